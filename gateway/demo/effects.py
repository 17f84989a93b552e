"""`Effects`: what the gateway did by itself, from its cause to the device that confirmed it.

Place on the way of the data: the end. Fed by the subscriptions FAN_WANTED of the house and COMMANDS
of pane.jsap; the cause is what the gateway had been told of the room when it asked for the command.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from gateway.client import Notification
from gateway.demo.readings import Readings
from gateway.demo.wording import is_true, word
from gateway.rdf.solutions import Solution

KEPT = 12


@dataclass(frozen=True, slots=True)
class Effect:
    """One command to an actuator: when it was asked for, what became of it, and when."""

    actuator: str
    place: str
    value: str
    status: str
    requested: datetime
    ended: datetime | None = None
    reason: str = ""

    @property
    def is_confirmed(self) -> bool:
        """Whether a reading of the device has the commanded value."""
        return self.status == "Confirmed"

    @property
    def outcome(self) -> str:
        """What became of it, in words; how long it took is the gateway's own account."""
        if self.ended is None:
            return f"{self.status.lower()}…"
        took = f"{(self.ended - self.requested).total_seconds():.2f} s"
        why = f": {self.reason}" if self.reason else ""
        return f"{self.status.lower()} in {took}{why}"


class Effects:
    """The latest commands, oldest first. Not thread-safe."""

    def __init__(self) -> None:
        self._commands: dict[str, Effect] = {}
        self._turns: dict[str, list[tuple[datetime, bool]]] = {}

    def told(self, notification: Notification) -> None:
        """Take up what COMMANDS says; those that the gateway forgets are remembered here."""
        for row in notification.added:
            self._commands[word(row["command"])] = _effect(row)
        while len(self._commands) > KEPT:
            del self._commands[next(iter(self._commands))]

    def wanted(self, notification: Notification) -> None:
        """Take up that rooms are in the answer that the rules stand on, or no more."""
        at = datetime.fromtimestamp((notification.time or 0) / 1e6, UTC)
        for is_wanted, rows in ((False, notification.removed), (True, notification.added)):
            for row in rows:
                turns = self._turns.setdefault(word(row["room"]), [])
                turns.append((at, is_wanted))
                del turns[:-KEPT]

    @property
    def latest(self) -> list[Effect]:
        """By the time at which they were asked for."""
        return sorted(self._commands.values(), key=lambda each: each.requested)

    def cause(self, effect: Effect, readings: Readings) -> str:
        """Why it was done, by what the gateway knew then."""
        if not self._is_by_rule(effect):
            return f"{effect.place}: asked for by hand"
        warm = readings.before(effect.place, "temperature", effect.requested)
        used = readings.before(effect.place, "occupancy", effect.requested)
        degrees = f" ({warm.text})" if warm is not None else ""
        if effect.value == "true":
            return f"{effect.place} too warm{degrees}, nobody in"
        if used is not None and is_true(used.value):
            return f"{effect.place}{degrees}: somebody came in"
        return f"{effect.place} cool again{degrees}"

    def _is_by_rule(self, effect: Effect) -> bool:
        """Whether it is the first command after a turn, and the one that this asks for."""
        turns = self._turns.get(effect.place, ())
        last = next((turn for turn in reversed(turns) if turn[0] <= effect.requested), None)
        if last is None or last[1] != (effect.value == "true"):
            return False
        others = (each for each in self._commands.values() if each.place == effect.place)
        return not any(last[0] <= each.requested < effect.requested for each in others)

    def sentence(self, effect: Effect, readings: Readings) -> str:
        """Cause, effect and outcome."""
        done = {"true": "on", "false": "off"}.get(effect.value, effect.value)
        cause = self.cause(effect, readings)
        return f"{cause} → {effect.actuator} {done} → {effect.outcome}"


def _effect(row: Solution) -> Effect:
    ended = row.get("ended")
    return Effect(
        actuator=word(row["actuator"]),
        place=word(row["place"]),
        value=word(row["value"]),
        status=word(row["status"]),
        requested=datetime.fromisoformat(word(row["requested"])),
        ended=None if ended is None else datetime.fromisoformat(word(ended)),
        reason=word(row.get("reason")),
    )
