"""The settings of compound events: [events] of gateway.toml (docs/events.md).

Place: a section of `gateway.config.settings`, of which it knows nothing.
"""

from typing import Literal

from gateway.config.values import Count, Seconds, Section
from gateway.journal.event_log import EventLogLimits

_LIMITS = EventLogLimits()


class EventsSettings(Section):
    """Whether events of requests are kept, to be told `after` a position, and for how long.

    `log` "federation": where [federation] is set, whose members miss none while a link is down.
    Those of messages are in the journal. The log has `log_bytes` at most, and nothing that is much
    older than `log_s`.
    """

    log: bool | Literal["federation"] = "federation"
    log_bytes: Count = _LIMITS.bytes
    log_s: Seconds = _LIMITS.seconds

    def limits(self) -> EventLogLimits:
        """The bounds in the form that the log takes."""
        return EventLogLimits(self.log_bytes, self.log_s)
