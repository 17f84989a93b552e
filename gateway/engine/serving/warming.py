"""`Warming`: a subscription whose windows are still being filled with what came before it.

    SUBSCRIBE -> begin -> fill, again and again -> its first notification

Place: in the engine's thread, between other requests, none of which waits for more than a bit of
it. The SPU stands from the beginning, over windows that are empty, and takes what is put into them
as what arrives; nobody is told before all of it is there.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from gateway.engine.limits import limited
from gateway.engine.notification import Notification, Outcome
from gateway.engine.request import SubscribeRequest
from gateway.engine.serving.served import Served
from gateway.engine.serving.steps import Steps
from gateway.engine.spu import Change, Spu
from gateway.windows.before.filling import Filling
from gateway.windows.window import Window

Fillings = Mapping[Window, Filling]
"""What is to be put into the windows of a request."""


class Warming:
    """One of them; `close` where it comes to nothing. Raises as Engine.subscribe does."""

    def __init__(
        self,
        served: Served,
        steps: Steps,
        request: SubscribeRequest,
        fillings: Fillings,
    ) -> None:
        self._served = served
        self._steps = steps
        self._request = request
        self._spu: Spu | None = None
        with steps.writing:
            self._spu, self._filling = served.begin(request, fillings)

    @property
    def is_done(self) -> bool:
        """Whether all is in the windows."""
        return not self._filling

    def fill(self, most: int) -> Outcome:
        """Put the next `most` elements into each window; the outcome is for other subscriptions.

        Raises WindowFullError: it is closed.
        """
        told: list[Change] = []
        with self._steps.writing as time, self._guarded():
            for content, filling in list(self._filling.items()):
                told += self._steps.windowed.fill(content, filling, most)
                if filling.is_done:
                    del self._filling[content]
            outcome = self._steps.told(told, time)
        outcome = self._steps.finished(outcome)
        with self._guarded():
            self._steps.windowed.require_kept(self._known())
        return outcome

    def finish(self) -> Notification:
        """Subscribe, now that all is there: sequence 0 and the whole answer."""
        with self._steps.writing, self._guarded():
            self._steps.windowed.require_kept(self._known())
            first = self._served.finish(self._request, self._known())
        self._spu = None
        return first

    def close(self) -> None:
        """Give up, unless it has been finished."""
        spu, self._spu = self._spu, None
        if spu is not None:
            self._steps.windowed.remove(spu)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            with limited(self._served.limits):
                yield
        except Exception:
            self.close()
            raise

    def _known(self) -> Spu:
        assert self._spu is not None  # noqa: S101  # it has not been closed
        return self._spu
