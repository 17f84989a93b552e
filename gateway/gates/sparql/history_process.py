"""The process in which a query over time is answered: rows gathered, a store of them, an answer.

Place: at the other end of `history`, and of `sosa-gateway query --archive`. Archive and journal are
read here, so that nothing of it weighs on ingest, and it may die of it.
"""

import json
import pickle
import shlex
from collections.abc import Iterable
from functools import lru_cache, partial
from pathlib import Path

from pyoxigraph import Quad, RdfFormat, Store
from pyoxigraph import parse as parse_rdf

from gateway.errors import StorageError, TooLargeError, UnsupportedQueryError
from gateway.gates.http.rendering import Answer, BoundedBody
from gateway.gates.sparql.history_job import FactsAsked, HistoryAnswer, HistoryJob, HistoryQuery
from gateway.journal.past.archive import Archive, ArchiveAwayError
from gateway.journal.past.gaps import MOST_TOLD
from gateway.journal.past.gathering import Gathered, TooManyRowsError, gather, texts
from gateway.journal.past.series import SeriesAsked, SeriesPage, State, StateAsked
from gateway.journal.past.series_reading import SeriesReader, state_of
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.runtime.confinement import serve
from gateway.store.clock import Clock
from gateway.store.quad_store import QuadStore
from jsap.shapes.nodes import Pattern, Variable
from jsap.shapes.parse import parse
from jsap.shapes.plan import Plan, plan
from jsap.shapes.refusal import QueryError

_JSON = ("application/sparql-results+json", "application/json")


def main(memory_bytes: int) -> None:
    """Answer until nobody asks any more."""
    serve(answered, memory_bytes)


def answered(job: HistoryJob | FactsAsked | SeriesAsked | StateAsked) -> bytes:
    """The pickled answer to one of these; of a series why, where the archive is away.

    Raises a GatewayError.
    """
    if isinstance(job, SeriesAsked | StateAsked):
        return pickle.dumps(_series(job))
    wanted = _plan(job.query)
    if isinstance(job, FactsAsked):
        return pickle.dumps([f"CONSTRUCT WHERE {{ {each} }}" for each in texts(wanted.patterns)])
    found = Gathered() if job.is_hidden else _gathered(job, wanted)
    found.missing |= job.missing
    gathered = QuadStore(found.store)
    gathered.clock = Clock(lambda: job.time)
    body = BoundedBody(job.bounds)
    answer = body.render(gathered.query(job.query.with_prefixes()), job.acceptable)
    if answer.media_type in _JSON:
        answer = _with_members(answer, found)
    told = HistoryAnswer(
        answer.packed() if job.takes_gzip else answer,
        tuple(map(str, found.gaps[:MOST_TOLD])),
        dict(found.missing),
    )
    return pickle.dumps(told)


def _series(job: SeriesAsked | StateAsked) -> State | SeriesPage | str:
    state = job if isinstance(job, StateAsked) else job.state
    archive = _archive(state.folder, state.memory_bytes)
    try:
        if isinstance(job, StateAsked):
            return state_of(archive, job)
        return _reader(archive).page(job)
    except ArchiveAwayError as error:
        return str(error)


@lru_cache(1)
def _archive(folder: Path, memory_bytes: int) -> Archive:
    """Kept open: its log and the footers of its files are known then."""
    return Archive(folder, memory_bytes)


@lru_cache(1)
def _reader(archive: Archive) -> SeriesReader:
    """With what the walk before left of it."""
    return SeriesReader(archive)


def _gathered(job: HistoryJob, wanted: Plan) -> Gathered:
    facts = partial(_matches, _facts(job))
    try:
        return gather(wanted, job.query.shapes, facts, job.sources, job.limits)
    except TooManyRowsError as error:
        raise TooLargeError(error.description, _elsewhere(job)) from error


def _plan(query: HistoryQuery) -> Plan:
    """What a query reads. Raises UnsupportedQueryError outside of the subset."""
    try:
        return plan(parse(query.text, query.namespaces).algebra, query.shapes)
    except QueryError as error:
        raise UnsupportedQueryError(error.description, error.hint) from error


def _elsewhere(job: HistoryJob) -> str:
    """The command that answers what is too large here."""
    archive = job.sources.archive
    words = ["sosa-gateway", "archive", "query", "--archive", str(archive), job.query.text]
    where = "" if archive is None else f", or ask the archive alone: {shlex.join(words)}"
    return f"bound sosa:resultTime or name the sensor, raise [archive] rows{where}"


def _facts(job: HistoryJob) -> QuadStore:
    if job.folder is None:
        store = Store()
        store.bulk_extend(
            Quad(each.subject, each.predicate, each.object)
            for each in parse_rdf(job.triples, format=RdfFormat.N_TRIPLES)
        )
        return QuadStore(store)
    try:
        return QuadStore(Store.read_only(str(job.folder)))
    except OSError as error:
        raise StorageError(
            f"the copy of the store does not open: {error}", "try it again"
        ) from error


def _matches(store: QuadStore, pattern: Pattern) -> Iterable[Quad]:
    """What a pattern may match in the default graph."""
    subject, object_ = (
        None if isinstance(node, Variable) else node for node in (pattern.subject, pattern.object)
    )
    return store.match(subject, pattern.iri, object_, DEFAULT_GRAPH)


def _with_members(answer: Answer, found: Gathered) -> Answer:
    """SPARQL's JSON with what it was answered from, in a member of its own."""
    told: dict[str, object] = {"observations": found.rows}
    if found.gaps:
        told["gaps"] = [gap.member() for gap in found.gaps[:MOST_TOLD]]
        told["gaps_in_all"] = len(found.gaps)
    if found.missing:
        told["missing"] = found.missing
    members = json.dumps({"history": told}, ensure_ascii=False)[1:].encode()
    body = answer.body.rstrip()
    return Answer(answer.media_type, body[:-1] + b"," + members)
