"""`Served`: who subscribes to what, and what processes it for them.

    SUBSCRIBE -> subject -> the SPU of a view, known or made -> sequence 0

Place: beside the way of an UPDATE, in the engine's thread. There are the asserted view, the
entailed one where reasoning is on, and windows beside either.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Protocol

from gateway.engine.compound.event_view import EventView
from gateway.engine.delivery import Delivery
from gateway.engine.explain import Explanation, Standing
from gateway.engine.limits import Limits, limited
from gateway.engine.notification import Notification, SharedListener
from gateway.engine.request import QueryRequest, SubscribeRequest
from gateway.engine.spu import EVENT, Spu, Subject
from gateway.engine.subscriptions import Subscription, Subscriptions
from gateway.engine.views.entailed_view import EntailedView
from gateway.engine.views.processings import Answering, first_answer
from gateway.engine.windowed.windowed_view import WindowedView
from gateway.errors import BadRequestError, NoReasoningError, WindowError
from gateway.sparql.clock_calls import calls_clock
from gateway.store.clock import Clock
from gateway.windows.before.filling import Filling
from gateway.windows.content import Content
from gateway.windows.window import OUTPUTS, Window


class Serving(Answering, Protocol):
    """What tells of them too how they are served."""

    def explain(self, subject: Subject, spu: Spu | None) -> Explanation:
        """How a query is served, or would be if it were subscribed."""

    def standing(self, subscription: Subscription) -> Standing:
        """How a subscription is served now."""


class Served:
    """All subscriptions. `asserted` and `windows` are always there; `view` is the entailed one."""

    def __init__(
        self,
        clock: Clock,
        limits: Limits,
        delivery: Delivery,
        subscriptions: Subscriptions,
        *,
        asserted: Serving,
        windows: WindowedView,
        events: EventView,
        view: EntailedView | None,
    ) -> None:
        self.view = view
        self._clock = clock
        self.limits = limits
        self._delivery = delivery
        self._subscriptions = subscriptions
        self._asserted = asserted
        self._windows = windows
        self._events = events
        self._clocked = count(1)

    def subscribe(
        self, request: SubscribeRequest, listener: SharedListener | None = None
    ) -> Notification:
        """The first notification: sequence 0 and the whole answer. Raises as Engine.subscribe."""
        if listener is not None and not request.windows:
            raise WindowError(
                "a listener of its own is for a subscription over windows",
                "give the engine one for all: on_notification",
            )
        is_event = request.mode == EVENT
        clocked = next(self._clocked) if calls_clock(request.text) and not is_event else 0
        subject = self._subject(request, clocked)
        with self._clock.held() as time:
            home = self._home(subject)
            known, serving = self._subscriptions.spu(home), self._serving(home)
            spu, results = first_answer(serving, home, known, self.limits)
        subscription = self._delivery.add(spu, request.alias, listener)
        if spu.subject.text != subject.text:
            subscription.text = subject.text
        if self.view is not None and not subject.windows:
            self.view.follow(subscription.spuid, subject)
        windows = self._windows.known(spu) if subject.windows else None
        known_as = (subscription.spuid, 0, request.alias)
        events, place = ((), self._events.place()) if is_event else (None, None)
        return Notification(*known_as, time, results, spu.form, windows, events, place)

    def begin(
        self, request: SubscribeRequest, fillings: Mapping[Window, Filling]
    ) -> tuple[Spu, dict[Content, Filling]]:
        """A new SPU over windows that are still to be filled, and these; nobody subscribes yet.

        Raises as `subscribe` does.
        """
        home = self._windows.home(self._subject(request))
        with limited(self.limits):
            return self._windows.begin(home, fillings)

    def finish(self, request: SubscribeRequest, spu: Spu) -> Notification:
        """The first notification of who waited for the SPU of `begin`."""
        results = self._windows.initial(spu)
        self.limits.require(len(results.added))
        known = self._subscriptions.spu(spu.subject)
        if known is not None:  # somebody else was quicker
            self._windows.remove(spu)
            spu = known
        subscription = self._delivery.add(spu, request.alias)
        known_as = (subscription.spuid, 0, request.alias)
        time = self._clock()
        return Notification(*known_as, time, results, spu.form, self._windows.known(spu))

    def unsubscribe(self, spuid: str) -> None:
        """End a subscription; its SPU goes with its last subscriber. Raises NotFoundError."""
        last = self._delivery.remove(spuid)
        if self.view is not None:
            self.view.forget(spuid)
        if last is not None:
            self.remove(last)

    def remove(self, spu: Spu) -> None:
        """Serve an SPU no longer that nobody subscribes to."""
        self._serving(spu.subject).remove(spu)

    def is_subscribed(self, query: QueryRequest) -> bool:
        """Whether somebody has subscribed to the same, so that its answer is known."""
        return self._subscriptions.spu(self._home(self._subject(query))) is not None

    def standing_by(self, most: int) -> tuple[Standing, ...]:
        """How the first `most` subscriptions are served now; linear in them."""
        chosen = self._subscriptions.all()[:most]
        return tuple(self._serving(each.spu.subject).standing(each) for each in chosen)

    def explain(self, query: QueryRequest) -> Explanation:
        """Which tier serves a query. Raises as Engine.explain."""
        asked = self._subject(query)
        subject = self._home(asked)
        explanation = self._serving(subject).explain(subject, self._subscriptions.spu(subject))
        if asked.windows:  # another may have asked the same in other words
            explanation = replace(explanation, query=asked.text)
        return self.view.explained(explanation, query) if self.view is not None else explanation

    def _subject(self, query: QueryRequest, clocked: int = 0) -> Subject:
        """What a request is about, declared windows that it names included.

        Raises ForbiddenError for a window that may not be read.
        """
        if not isinstance(query, SubscribeRequest):
            query = SubscribeRequest(query.text, query.dataset, query.rights, infer=query.infer)
        if query.gateways is not None:
            raise BadRequestError(
                "this subscription is asked of gateways, and it is served by one alone",
                "leave out `gateways`, or set up [federation]",
            )
        if query.mode == EVENT:
            return _of_events(query)
        query = self._windows.names.completed(query)
        if query.windows:
            self._windows.require_readable(query)
        elif query.output != OUTPUTS[0]:
            raise WindowError("output", "is for windows, and there is none", "leave it out")
        return Subject(
            query.text,
            query.dataset,
            clocked,
            query.readable,
            query.is_prompt,
            infer=query.infer,
            windows=query.windows,
            output=query.output,
        )

    def _home(self, subject: Subject) -> Subject:
        """The subject of the SPU that serves one."""
        if subject.windows:
            return self._windows.home(subject)
        if not subject.infer:
            return subject
        if self.view is None:
            raise NoReasoningError
        return self.view.home(subject)

    def _serving(self, subject: Subject) -> Serving:
        if subject.mode == EVENT:
            return self._events
        if subject.windows:
            return self._windows
        if subject.infer and self.view is not None:
            return self.view.processing
        return self._asserted


def _of_events(query: SubscribeRequest) -> Subject:
    """What a request in mode `event` is about; whose events it may read counts whatever it asks.

    Raises BadRequestError for what has no meaning there.
    """
    if query.windows or query.output != OUTPUTS[0]:
        raise BadRequestError(
            "in mode event a query is asked of one event, and this one names windows or an output",
            "leave out `windows` and `output`, or `mode`",
        )
    if query.after:
        raise BadRequestError(
            "events `after` a position are asked for, and this gateway keeps none",
            "leave out `after`, or set [events] log = true",
        )
    if query.infer:
        raise BadRequestError(
            "in mode event a query is asked of what one request states, without what follows",
            "leave out `infer`, or `mode`",
        )
    return Subject(query.text, query.dataset, readable=query.rights.read, mode=EVENT)
