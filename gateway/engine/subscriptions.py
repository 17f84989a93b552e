"""`Subscriptions`: who subscribed to what, and the notifications of each, numbered without a gap.

At the end of the way from an UPDATE to its subscribers. Several may share an SPU; each has
a spuid, a sequence and an alias of its own.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from uuid import uuid4

from gateway.engine.notification import Notification
from gateway.engine.spu import Change, Spu, Subject
from gateway.errors import NotFoundError

_notification: Callable[[type[Notification], tuple[object, ...]], Notification] = tuple.__new__
"""A fifth of the time of calling the class."""


@dataclass(slots=True)
class Subscription:
    """One subscriber of an SPU; `sequence` is that of its last notification."""

    spuid: str
    alias: str | None
    spu: Spu
    sequence: int = 0


class Subscriptions:
    """All subscriptions, by spuid, and the SPUs that they share, by subject."""

    def __init__(self) -> None:
        self._spus: dict[Subject, Spu] = {}
        self._by_spuid: dict[str, Subscription] = {}
        self._subscribers: dict[Spu, list[Subscription]] = {}

    def __len__(self) -> int:
        return len(self._by_spuid)

    def __iter__(self) -> Iterator[str]:
        """Their spuids, as they are now."""
        return iter(list(self._by_spuid))

    def all(self) -> list[Subscription]:
        """The subscriptions of now, the oldest first."""
        return list(self._by_spuid.values())

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """What is subscribed, each once."""
        return tuple(self._spus)

    def spu(self, subject: Subject) -> Spu | None:
        """The SPU that already serves a subject."""
        return self._spus.get(subject)

    def spuids(self, spu: Spu) -> list[str]:
        """The spuids of all who share an SPU."""
        return [each.spuid for each in self._subscribers.get(spu, ())]

    def of(self, spuid: str) -> Subscription:
        """The subscription with this spuid, which is one of these."""
        return self._by_spuid[spuid]

    def add(self, spu: Spu, alias: str | None) -> Subscription:
        """A further subscriber of an SPU, known before or not."""
        subscription = Subscription(f"sepa://subscription/{uuid4()}", alias, spu)
        self._spus[spu.subject] = spu
        self._subscribers.setdefault(spu, []).append(subscription)
        self._by_spuid[subscription.spuid] = subscription
        return subscription

    def remove(self, spuid: str) -> Spu | None:
        """End a subscription; the SPU that it was the last of, if so. Raises NotFoundError."""
        subscription = self._by_spuid.pop(spuid, None)
        if subscription is None:
            raise NotFoundError(f"there is no subscription {spuid}", "it may have ended already")
        return self._leave(subscription)

    def leave(self, spuid: str) -> Spu | None:
        """Take a subscription from its SPU, so that it is told nothing; as `remove` else."""
        return self._leave(self._by_spuid[spuid])

    def join(self, spuid: str, spu: Spu) -> Subscription:
        """Let a subscription that has left its SPU be one of another's."""
        subscription = self._by_spuid[spuid]
        subscription.spu = spu
        self._spus[spu.subject] = spu
        self._subscribers.setdefault(spu, []).append(subscription)
        return subscription

    def _leave(self, subscription: Subscription) -> Spu | None:
        spu = subscription.spu
        sharing = self._subscribers.get(spu, [])
        if subscription not in sharing:
            return None
        sharing.remove(subscription)
        if sharing:
            return None
        del self._subscribers[spu], self._spus[spu.subject]
        return spu

    def address(self, changes: Iterable[Change], time: int) -> Iterator[Notification]:
        """A notification for every subscriber of each SPU whose answer changed.

        An SPU whose last subscriber has just gone has none.
        """
        for spu, results in changes:
            form = spu.form
            for each in self._subscribers.get(spu, ()):
                each.sequence = sequence = each.sequence + 1
                told = (each.spuid, sequence, each.alias, time, results, form, None)
                yield _notification(Notification, told)
