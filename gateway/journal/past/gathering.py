"""What a query over time is answered on: rows of archive and journal, and facts of the store.

    plan -> facts -> what these narrow -> journal, archive -> statements -> one store in memory
                                              gaps, parts that are away

Place: before the store's own SPARQL engine, which answers the query as it was written. An
observation in both, or in the store as well, is there once, since its triples are the same. The
journal is read before the archive: what is taken over meanwhile is in one of them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from sys import intern

from pyoxigraph import NamedNode, Quad, QuerySolutions, Store

from gateway.errors import TooLargeError
from gateway.journal.past.archive import Archive, ArchiveAwayError, identities_of
from gateway.journal.past.gaps import Gap, gaps_between, retained_gap
from gateway.journal.past.journalled import Journalled
from gateway.journal.past.row import Row
from gateway.journal.past.sources import GatherLimits, Sources
from gateway.journal.past.statements import Statements
from gateway.journal.past.taken import NOTHING_TAKEN, Taken
from gateway.journal.record import micros
from jsap.shapes.bounds import Needed
from jsap.shapes.nodes import Pattern, Variable
from jsap.shapes.plan import Need, Plan
from jsap.shapes.shape import Shapes

Facts = Callable[[Pattern], Iterable[Quad]]
"""The quads of the default graph that a pattern may match."""

_AT_ONCE = 5_000
_MOST_VALUES = 1000
"""Values of a variable that narrow what is read."""


@dataclass(slots=True)
class Gathered:
    """A store of what was found, how many observations, which lines nobody has, what is away."""

    store: Store = field(default_factory=Store)
    rows: int = 0
    gaps: list[Gap] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)


class TooManyRowsError(TooLargeError):
    """The query needs more observations than one answer may."""


def gather(
    plan: Plan, shapes: Shapes, facts: Facts, sources: Sources, limits: GatherLimits
) -> Gathered:
    """All that the query needs. Raises TooLargeError beyond a limit."""
    found = Gathered()
    _load_facts(found.store, plan.patterns, facts, limits.facts)
    needs = [(need, _narrowed(found.store, need)) for need in plan.needs]
    if not needs:
        return found
    journalled = _journalled(needs, sources, found, limits)
    loading = _Loading(found.store, Statements(shapes, plan.predicates), limits.rows)
    if journalled is not None:
        loading.take(journalled.rows)
        journalled.rows.clear()
    taken = _archived(needs, sources, found, limits, loading)
    found.rows = len(loading.seen)
    found.gaps += gaps_between(taken, journalled)
    return found


class _Loading:
    """Rows on their way into a store; `seen` are their identities."""

    def __init__(self, store: Store, statements: Statements, most: int) -> None:
        self._store = store
        self._statements = statements
        self._most = most
        self.seen: set[tuple[str, int, int]] = set()

    def take(self, rows: Iterable[Row]) -> None:
        """Load what rows say, each row once. Raises TooManyRowsError."""
        waiting = iter(rows)
        while some := list(islice(waiting, _AT_ONCE)):
            self._store.bulk_extend(self._quads(some))

    def _quads(self, rows: Iterable[Row]) -> Iterator[Quad]:
        for row in rows:
            identity = (intern(row.gateway), row.epoch, row.sequence)
            if identity not in self.seen:
                self.seen.add(identity)
                if len(self.seen) > self._most:
                    raise TooManyRowsError(f"the query needs more than {self._most} observations")
                yield from self._statements.of(row)


_Needs = Sequence[tuple[Need, Mapping[str, frozenset[str]]]]


def _load_facts(store: Store, patterns: Iterable[Pattern], facts: Facts, most: int) -> None:
    loaded = 0
    for pattern in patterns:
        quads = list(facts(pattern))
        loaded += len(quads)
        if loaded > most:
            raise TooLargeError(
                f"the query needs more than {most} triples of the store", "name what it is about"
            )
        store.bulk_extend(quads)


def _narrowed(store: Store, need: Need) -> Mapping[str, frozenset[str]]:
    """The values that patterns beside a scan leave for its marks, where these are few."""
    narrowed: dict[str, frozenset[str]] = {}
    if not need.beside:
        return narrowed
    names: dict[str, str] = {}
    where = " . ".join(_text(pattern, names) for pattern in need.beside)
    for variable, mark in need.marks.items():
        asked = f"SELECT DISTINCT ?{names[variable]} {{ {where} }} LIMIT {_MOST_VALUES + 1}"
        solutions = store.query(asked)
        assert isinstance(solutions, QuerySolutions)  # noqa: S101  # a SELECT
        values = [solution[0] for solution in solutions]
        if len(values) <= _MOST_VALUES:
            iris = frozenset(each.value for each in values if isinstance(each, NamedNode))
            narrowed[mark] = iris & narrowed.get(mark, iris)
    return narrowed


def texts(patterns: Iterable[Pattern]) -> list[str]:
    """Each pattern in SPARQL, by itself."""
    return [_text(pattern, {}) for pattern in patterns]


def _text(pattern: Pattern, names: dict[str, str]) -> str:
    """A pattern in SPARQL, its variables numbered."""

    def written(node: object) -> str:
        if isinstance(node, Variable):
            return "?" + names.setdefault(node.name, f"v{len(names)}")
        return str(node)

    return f"{written(pattern.subject)} <{pattern.predicate}> {written(pattern.object)}"


def _journalled(
    needs: _Needs, sources: Sources, found: Gathered, limits: GatherLimits
) -> Journalled | None:
    """What the journal has beyond what the archive has now, None where there is no journal."""
    taken = NOTHING_TAKEN
    if sources.archive is not None:
        try:
            taken = Archive(sources.archive, limits.memory_bytes).taken()
        except ArchiveAwayError as error:
            found.missing["archive"] = str(error)
    if sources.journal is None:
        found.missing["journal"] = "nobody has said where it is"
        return None
    tests = [_test(need, values) for need, values in needs]
    journalled = Journalled(sources.journal, taken)
    try:
        journalled.read(lambda row: any(test(row) for test in tests), limits.rows)
    except OSError as error:
        found.missing["journal"] = f"{sources.journal}: {error.strerror or error}"
    return journalled


def _archived(
    needs: _Needs, sources: Sources, found: Gathered, limits: GatherLimits, loading: _Loading
) -> Taken:
    """What the archive has; it may have taken more meanwhile."""
    if sources.archive is None or "archive" in found.missing:
        found.missing.setdefault("archive", "no archive is set")
        return NOTHING_TAKEN
    archive = Archive(sources.archive, limits.memory_bytes)
    try:
        taken = archive.rows(needs, limits.rows, loading.take)
        lows = [need.needed.low for need, _ in needs]
        found.gaps += retained_gap(archive, None if None in lows else min(filter(None, lows)))
        return taken
    except ArchiveAwayError as error:
        found.missing["archive"] = str(error)
        return NOTHING_TAKEN


def _test(need: Need, values: Mapping[str, frozenset[str]]) -> Callable[[Row], bool]:
    """Whether a row is one that a need asks for."""
    needed: Needed = need.within(values)
    low = None if needed.low is None else micros(needed.low)
    high = None if needed.high is None else micros(needed.high)
    sensors, properties, features = map(needed.values.get, ("sensor", "property", "feature"))
    identities, is_suspect = identities_of(needed), need.scan.suspect

    def test(row: Row) -> bool:
        return (
            (low is None or row.time >= low)
            and (high is None or row.time <= high)
            and (sensors is None or row.sensor in sensors)
            and (properties is None or row.observed_property in properties)
            and (features is None or row.feature in features)
            and (identities is None or (row.gateway, row.epoch, row.sequence) in identities)
            and (row.is_suspect or not is_suspect)
        )

    return test
