"""`Subscriptions`: who subscribed to what, and the notifications of each, numbered without a gap.

At the end of the way from an UPDATE to its subscribers. Several may share an SPU; each has
a spuid, a sequence and an alias of its own.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from uuid import uuid4

from gateway.engine.notification import Notification, SharedListener, SharedNotification, Told
from gateway.engine.spu import Change, Spu, Subject
from gateway.errors import NotFoundError

_notification: Callable[[type[Notification], tuple[object, ...]], Notification] = tuple.__new__
"""A fifth of the time of calling the class."""

_shared: Callable[[type[SharedNotification], tuple[object, ...]], SharedNotification]
_shared = tuple.__new__

_told: Callable[[type[Told], tuple[object, ...]], Told] = tuple.__new__


@dataclass(slots=True, eq=False)
class Audience:
    """All who share an SPU and have listeners of their own: they are told by one object.

    `told` counts what they were told, so that nothing is counted for each of them. `listeners` is
    None where they have to be looked up, when some came or went. With `is_all` nobody else shares
    the SPU.
    """

    told: int = 0
    listeners: tuple[SharedListener, ...] | None = None
    is_all: bool = False


@dataclass(slots=True)
class Subscription:
    """One subscriber of an SPU; `sequence` is that of its last notification.

    In an `audience` it is told by its `listener`, and `sequence` is behind by what that was told
    before it came; `last_sequence` is right for all.
    """

    spuid: str
    alias: str | None
    spu: Spu
    sequence: int = 0
    listener: SharedListener | None = None
    audience: Audience | None = None
    text: str | None = None
    """Where it is another than that of the SPU, which means the same."""

    @property
    def last_sequence(self) -> int:
        """The sequence of its last notification."""
        return self.sequence if self.audience is None else self.audience.told + self.sequence


class Subscriptions:
    """All subscriptions, by spuid, and the SPUs that they share, by subject."""

    def __init__(self) -> None:
        self._spus: dict[Subject, Spu] = {}
        self._by_spuid: dict[str, Subscription] = {}
        self._subscribers: dict[Spu, list[Subscription]] = {}
        self._audiences: dict[Spu, Audience] = {}

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

    def add(
        self, spu: Spu, alias: str | None, listener: SharedListener | None = None
    ) -> Subscription:
        """A further subscriber of an SPU, known before or not."""
        subscription = Subscription(f"sepa://subscription/{uuid4()}", alias, spu, listener=listener)
        self._place(subscription)
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
        self._place(subscription)
        return subscription

    def _place(self, subscription: Subscription) -> None:
        spu, listener = subscription.spu, subscription.listener
        self._spus[spu.subject] = spu
        self._subscribers.setdefault(spu, []).append(subscription)
        audience = self._audiences.get(spu)
        if audience is None and listener is not None:
            audience = self._audiences[spu] = Audience()
        if audience is not None:
            audience.listeners = None
        if audience is not None and listener is not None:
            subscription.audience = audience
            subscription.sequence -= audience.told

    def _leave(self, subscription: Subscription) -> Spu | None:
        spu, audience = subscription.spu, subscription.audience
        sharing = self._subscribers.get(spu, [])
        if subscription not in sharing:
            return None
        sharing.remove(subscription)
        if audience is not None:
            subscription.sequence, subscription.audience = subscription.last_sequence, None
        if sharing:
            if spu in self._audiences:
                self._audiences[spu].listeners = None
            return None
        self._audiences.pop(spu, None)
        del self._subscribers[spu], self._spus[spu.subject]
        return spu

    def address(self, changes: Iterable[Change], time: int) -> Told:
        """A notification for every subscriber of each SPU whose answer changed.

        Those with listeners of their own have one together. An SPU whose last subscriber has just
        gone has none.
        """
        notifications: list[Notification] = []
        shared: list[tuple[SharedNotification, tuple[SharedListener, ...]]] = []
        audiences, count, tell = self._audiences, 0, shared.append
        for spu, results in changes:
            audience = audiences.get(spu)
            if audience is not None:
                audience.told += 1
                listeners = audience.listeners
                if listeners is None:
                    listeners = self._look_up(audience, spu)
                tell((_shared(SharedNotification, (time, results, spu.form)), listeners))
                count += len(listeners)
                if audience.is_all:
                    continue
            form = spu.form
            for each in self._subscribers.get(spu, ()):
                if each.listener is None:
                    each.sequence = sequence = each.sequence + 1
                    own = (each.spuid, sequence, each.alias, time, results, form, None, None, None)
                    notifications.append(_notification(Notification, own))
        return _told(Told, (notifications, shared, count + len(notifications)))

    def _look_up(self, audience: Audience, spu: Spu) -> tuple[SharedListener, ...]:
        sharing = self._subscribers.get(spu, ())
        found = tuple([each.listener for each in sharing if each.listener is not None])
        audience.listeners, audience.is_all = found, len(found) == len(sharing)
        return found
