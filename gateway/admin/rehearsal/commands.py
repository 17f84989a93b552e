"""`Commands`: what republish rules would have sent for the messages of a rehearsal.

Place: at the end of one side of it. A rule is followed there as the gateway follows it
(`gateway.actuation.rules`), but that nothing is published.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from adapters.values.message import Message
from gateway.actuation.rules import Rule, fill_payload, fill_topic
from gateway.admin.rehearsal.report import MOST, Members
from gateway.engine import Notification
from gateway.rdf.solutions import solution


@dataclass(slots=True)
class Commands:
    """Filled notification by notification; all are counted, the first told one by one."""

    count: int = 0
    told: list[Members] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)

    def take(self, rule: Rule, notification: Notification, message: Message | None) -> None:
        """What a rule makes of rows that came or went; of the first answer only by `onStart`."""
        if notification.sequence == 0 and not rule.on_start:
            return
        results = notification.results
        for row in results.removed if rule.on_removed else results.added:
            values = solution(results.variables, row)
            try:
                topic, payload = fill_topic(rule.topic, values), fill_payload(rule.payload, values)
            except ValueError as error:
                self.errors[rule.iri] = str(error)
                continue
            self.count += 1
            if len(self.told) < MOST:
                self.told.append(_command(rule, topic, payload, message))

    def members(self, rules: Sequence[Rule]) -> Members:
        """As JSON; nothing where no rule was rehearsed."""
        if not rules:
            return {}
        return {
            "commands": self.told,
            "commands_count": self.count,
            "rules_failed": [
                {"rule": iri, "reason": reason} for iri, reason in self.errors.items()
            ],
        }


def _command(rule: Rule, topic: str, payload: bytes, message: Message | None) -> Members:
    because = (
        None
        if message is None
        else {"topic": message.topic, "received_at": message.received_at.isoformat()}
    )
    text = payload.decode(errors="replace")
    return {"rule": rule.iri, "topic": topic, "payload": text, "message": because}
