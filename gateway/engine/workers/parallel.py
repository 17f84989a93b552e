"""`ParallelProcessing`: some SPUs here, the others in worker processes.

Where `Processing` is in sequential mode (docs/engine.md, "Parallel mode"). Which SPUs go where,
`placement` says.
"""

from collections import Counter

from gateway.engine.processing import MakeCompiler, Processing
from gateway.engine.recovery import Recovery
from gateway.engine.spu import Spu, Subject
from gateway.engine.statistics import EngineStatistics
from gateway.engine.workers.placement import belongs_in_worker, is_order_dependent
from gateway.engine.workers.worker import SharedSource
from gateway.engine.workers.workers import Workers
from gateway.errors import UpdateFailedError
from gateway.rdf.solutions import ResultsDelta, difference


class ParallelProcessing(Processing):
    """Processing that shares the work with worker processes.

    What lives in a worker is answered by `Workers`, in a thread that receives from it, in the order
    of the updates.
    """

    def __init__(
        self,
        store: SharedSource,
        compiler: MakeCompiler,
        statistics: EngineStatistics,
        workers: Workers,
    ) -> None:
        super().__init__(store, compiler, statistics)
        self._make = compiler
        self._quads = store
        self._workers = workers

    def add(self, subject: Subject) -> tuple[Spu, ResultsDelta]:
        """A new SPU and its whole answer; it may live in a worker from now on."""
        spu, results = super().add(subject)
        unit = self.unit(spu)
        if unit is not None and belongs_in_worker(subject, unit):
            told = Counter(results.added) if is_order_dependent(subject.text) else None
            with self._quads.writing:
                super().remove(spu)
                self._workers.register(spu, unit.lutt, told)
            self._workers.pump()
        return spu, results

    def initial(self, spu: Spu) -> ResultsDelta:
        """The whole answer of a known SPU; waits until its worker has done what it was given.

        Raises UpdateFailedError for an SPU that was given up.
        """
        if super().unit(spu) is not None:
            return super().initial(spu)
        if spu not in self._workers:
            raise UpdateFailedError(
                "this query has ended its worker process again and again",
                "ask for less, or subscribe to it with workers = 0",
            )
        told = self._workers.told(spu)
        if told is not None:
            return difference(spu.variables, Counter(), told)
        alone = self._make(self._quads).place(spu.subject)
        return Recovery(self._quads, self._statistics).initial(alone.unit, alone.spu)

    def remove(self, spu: Spu) -> None:
        """The reverse of `add`; what a worker still answers is dropped."""
        if super().unit(spu) is not None:
            super().remove(spu)
        else:
            with self._quads.writing:
                self._workers.remove(spu)
            self._workers.pump()
