"""A member that is away, as something to look after."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from gateway.federation.watching.status import AWAY, MemberStatus
from gateway.runtime.alarms import AlarmKind, Condition, Source

_GRACE = timedelta(seconds=5)
"""At a start, and while a link is made anew, nobody needs to look."""

_HINT = "see whether it runs and is reached: sosa-gateway federation check"


def away_alarms(statuses: Callable[[], Sequence[MemberStatus]]) -> Source:
    """Whom this gateway does not reach; what is closed is told by who closed it."""

    def look() -> Iterator[Condition]:
        for each in statuses():
            since = datetime.fromtimestamp(each.since / 1e6, UTC)
            if each.state == AWAY and datetime.now(UTC) - since >= _GRACE:
                what = f"this gateway is away since {since:%Y-%m-%d %H:%M:%S} UTC"
                yield Condition(AlarmKind.FEDERATION, each.name, what, _HINT)

    return look
