"""A member that is away, as something to look after."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from gateway.federation.watching.status import AWAY, MemberStatus
from gateway.runtime.alarms import AlarmKind, Condition, Source

_HINT = "see whether it runs and is reached: sosa-gateway federation check"


def away_alarms(statuses: Callable[[], Sequence[MemberStatus]]) -> Source:
    """Whom this gateway does not reach; what is closed is told by who closed it."""

    def look() -> Iterator[Condition]:
        for each in statuses():
            if each.state == AWAY:
                since = datetime.fromtimestamp(each.since / 1e6, UTC)
                what = f"this gateway is away since {since:%Y-%m-%d %H:%M:%S} UTC"
                yield Condition(AlarmKind.FEDERATION, each.name, what, _HINT)

    return look
