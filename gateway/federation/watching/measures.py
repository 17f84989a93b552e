"""What is counted of other members, by their names; docs/metrics.md."""

from collections.abc import Callable, Sequence

from gateway.federation.watching.status import MemberStatus
from gateway.runtime.measures import Measure, Values

_Read = Callable[[MemberStatus], float]

_NOW: Sequence[tuple[str, str, _Read]] = (
    ("members", "1 for a member that is up, 0 for one that is not", lambda each: each.is_up),
    ("lag_seconds", "how old what is known of it is", lambda each: each.lag_s or 0.0),
    ("entries", "LUTT entries of ours in force there", lambda each: each.entries),
    ("replica_quads", "quads of it that are known here", lambda each: each.replica_quads),
    ("outbox_quads", "quads that wait to be told to it", lambda each: each.outbox_quads),
    ("event_log_bytes", "kept events that it did not confirm", lambda each: each.event_log_bytes),
)
_SINCE_START: Sequence[tuple[str, str, _Read]] = (
    ("sent", "bytes sent to it", lambda each: each.traffic.sent),
    ("received", "bytes that came from it", lambda each: each.traffic.received),
    ("useless", "events from it that answered nothing here", lambda each: each.counted.useless),
    ("late", "events from it whose queries had ended", lambda each: each.counted.late),
    ("duplicates", "events that came from it again", lambda each: each.counted.duplicates),
    ("resyncs", "streams of it that began again", lambda each: each.counted.resyncs),
    ("gaps", "times that events of it were not known any more", lambda each: each.counted.gaps),
)


def federation_measures(statuses: Callable[[], Sequence[MemberStatus]]) -> tuple[Measure, ...]:
    """One value for each member; none where there is no federation."""

    def read(value: _Read) -> Callable[[], Values]:
        return lambda: {each.name: float(value(each)) for each in statuses()}

    return tuple(
        Measure(f"federation_{name}", what, read(value), is_counter, label="peer")
        for group, is_counter in ((_NOW, False), (_SINCE_START, True))
        for name, what, value in group
    )
