"""`Recovery`: what becomes of a unit that fails, by a defect or by what the store says.

    unit fails -> answer told so far, answer now -> their difference, and the unit begins anew

Place: beside `processing`, which hands over a unit whose `process` or `initial` has raised. That
costs the unit a re-query; its subscribers are told exactly what they would have been told. What a
unit does not keep is evaluated on the quads that its LUTT let through before the UPDATE. A unit
that cannot begin anew stays here, and is re-queried at each UPDATE that reaches it, until it can.
"""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable

from gateway.engine.lutt import Artq, quads_then
from gateway.engine.spu import Change, Spu, Subject, Unit, evaluate
from gateway.engine.statistics import EngineStatistics
from gateway.errors import GatewayError
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import ResultsDelta, SolutionBag, difference
from gateway.store.quad_store import QuadStore
from gateway.store.readable import Readable, Source

log = logging.getLogger(__name__)


class Recovery:
    """The units that cannot say their answers now, with what their members were told.

    `on_lost` is called for an SPU of which nobody knows any more what it was told.
    """

    def __init__(self, store: Source, statistics: EngineStatistics) -> None:
        self._store = store
        self._statistics = statistics
        self._told: dict[Unit, dict[Spu, SolutionBag]] = {}
        self.on_lost: Callable[[Spu], None] = _lost

    def __contains__(self, unit: Unit) -> bool:
        return unit in self._told

    def __bool__(self) -> bool:
        return bool(self._told)

    def initial(self, unit: Unit, spu: Spu) -> ResultsDelta:
        """The whole answer of a member; the unit's own where it can say it. Raises GatewayError."""
        if unit not in self._told:
            try:
                return unit.initial(spu)
            except GatewayError:
                raise
            except Exception as error:
                self.note(error, [spu])
        told = self._told.setdefault(unit, {})
        if spu not in told:
            told[spu] = _evaluated(self._store, spu.subject)
        return difference(spu.variables, Counter(), told[spu])

    def changes(self, unit: Unit, artq: Artq) -> list[Change]:
        """What an UPDATE changed in the answers of a unit that failed on it, or before.

        Raises what evaluating the queries raises; the next UPDATE then adds up again.
        """
        told = self._told.get(unit, {})
        told |= self._told_by(unit, [spu for spu in unit.members if spu not in told], artq)
        self._told[unit] = told
        try:
            now = _renewed(unit)
        except Exception as error:  # it is evaluated again until it can say itself
            log.debug("spu_not_renewed", extra={"reason": repr(error)})
            now = {spu: _evaluated(self._store, spu.subject) for spu in told}
            self._told[unit] = now
        else:
            del self._told[unit]
        return [(spu, difference(spu.variables, told[spu], now[spu])) for spu in told]

    def note(self, error: Exception, spus: Iterable[Spu]) -> None:
        """Count and log a failure; a defect with its trace, to be reported."""
        self._statistics.failures += 1
        trace = None if isinstance(error, GatewayError) else error
        for spu in spus:
            reason = {"query": spu.subject.text, "reason": str(error) or repr(error)}
            log.error("spu_failed", extra=reason, exc_info=trace)

    def forget(self, unit: Unit, spu: Spu) -> None:
        """Without this member."""
        told = self._told.get(unit)
        if told is not None:
            told.pop(spu, None)
            if not unit.members or set(unit.members) == {spu}:
                del self._told[unit]

    def take_over(self, unit: Unit, gone: Iterable[Unit]) -> None:
        """The members of units that are gone are this unit's."""
        for each in gone:
            told = self._told.pop(each, None)
            if told is not None:
                self._told.setdefault(unit, {}).update(told)

    def _told_by(self, unit: Unit, spus: Collection[Spu], artq: Artq) -> dict[Spu, SolutionBag]:
        kept = {spu: unit.told(spu) for spu in spus}
        found = {spu: answer for spu, answer in kept.items() if answer is not None}
        missing = [spu for spu in spus if spu not in found]
        if missing:
            before = QuadStore.open(None)
            change = Delta(tuple(artq.added), tuple(artq.removed))
            before.apply(Delta(added=quads_then(self._store, unit.lutt, [change])))
            for spu in missing:
                try:
                    found[spu] = _evaluated(before, spu.subject)
                except Exception:
                    log.exception("spu_lost", extra={"query": spu.subject.text})
                    self.on_lost(spu)
        return found


def _renewed(unit: Unit) -> dict[Spu, SolutionBag]:
    unit.renew()
    return {spu: Counter(unit.initial(spu).added) for spu in unit.members}


def _evaluated(store: Source, subject: Subject) -> SolutionBag:
    if subject.readable is not None:
        store = Readable(store, subject.readable)
    return evaluate(store, subject)


def _lost(spu: Spu) -> None:
    raise RuntimeError(f"nobody knows what was told of {spu.subject.text}")
