"""What processes the changes of one view, by the engine's options: here, or in workers too."""

from typing import Protocol

from gateway.engine.delivery import Delivery
from gateway.engine.limits import Limits, limited
from gateway.engine.options import EngineOptions
from gateway.engine.performance import MeasuredProcessing
from gateway.engine.processing import Processing
from gateway.engine.spu import Spu, Subject
from gateway.engine.statistics import EngineStatistics
from gateway.engine.workers.parallel import ParallelProcessing
from gateway.engine.workers.worker import SharedSource
from gateway.engine.workers.workers import WorkerCount, Workers, worker_count
from gateway.errors import QueryTimeoutError, TooManySolutionsError
from gateway.rdf.solutions import ResultsDelta


class Processings:
    """Opens them. A worker process has the quads of one view, so each view has its own workers."""

    def __init__(
        self,
        workers: WorkerCount,
        options: EngineOptions,
        statistics: EngineStatistics,
        delivery: Delivery,
    ) -> None:
        """Raises ValueError for a number of workers that is none."""
        self.delivery = delivery
        self.performance = options.performance
        self._workers = worker_count(workers)
        self._options = options
        self._statistics = statistics

    def open(
        self, source: SharedSource, *, is_entailed: bool = False
    ) -> tuple[Processing, Workers | None]:
        """A view's processing, and its workers where it has some. Raises StorageError."""
        options, delivery = self._options, self.delivery
        compiler = options.entailed_compiler if is_entailed else options.compiler
        parts = (source, compiler, self._statistics)
        performance = self.performance
        pool = None
        processing: Processing
        if self._workers and performance is not None:
            raise ValueError("performance is that of the sequential mode: workers = 0")
        if self._workers:
            told = (delivery.arrived, delivery.given_up)
            number, bound = self._workers, options.artq
            pool = Workers(source, options.launch, *told, number=number, bound=bound)
            processing = ParallelProcessing(*parts, pool)
        elif performance is not None:
            processing = MeasuredProcessing(*parts, performance)
        else:
            processing = Processing(*parts)
        processing.recovery.on_lost = delivery.lost
        return processing, pool


class Answering(Protocol):
    """What makes SPUs and answers for them: a processing, or windows beside views."""

    def add(self, subject: Subject) -> tuple[Spu, ResultsDelta]:
        """A new SPU and its whole answer; where this raises, nothing is registered."""

    def initial(self, spu: Spu) -> ResultsDelta:
        """The whole answer of a known SPU now."""

    def remove(self, spu: Spu) -> None:
        """The reverse of `add`."""


def first_answer(
    processing: Answering, subject: Subject, known: Spu | None, limits: Limits
) -> tuple[Spu, ResultsDelta]:
    """The SPU of a subject, made unless it is known, and its whole answer.

    Raises TooManySolutionsError or QueryTimeoutError, and leaves none behind.
    """
    try:
        with limited(limits):
            if known is not None:
                results = processing.initial(known)
                limits.require(len(results.added))
                return known, results
            spu, results = processing.add(subject)
    except (TooManySolutionsError, QueryTimeoutError) as error:
        # Its traceback keeps results of the store, which only this thread may drop.
        raise error.with_traceback(None) from None
    try:
        limits.require(len(results.added))
    except TooManySolutionsError:
        processing.remove(spu)
        raise
    return spu, results
