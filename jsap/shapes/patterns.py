"""Basic graph patterns over the statements that an export has: which rows, which of their terms.

Place on the way of the data: between the algebra of a query and the rows of whoever answers it.
The shapes of the JSAP profile are the mapping (as in R2RML, the table `observations` is the logical
table). Patterns with the same subject match one row; subjects that are made of a row's identity
(observation, result, instant) bring those of one row together, so a star needs no join.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pyoxigraph import NamedNode

from jsap.shapes.nodes import Node, Pattern, Variable
from jsap.shapes.refusal import refused
from jsap.shapes.shape import Mark, Part, Shapes, Statement

KEYS = frozenset({"observation", "resultNode", "instant"})
"""Marks whose IRIs a row has for itself."""
QUANTITY, POSITION, VALUE, SUSPECT = "quantity", "position", "value", "suspect"
KINDS = frozenset({QUANTITY, POSITION, VALUE})


@dataclass(frozen=True, slots=True)
class Use:
    """A node of the query that must be a row's term."""

    node: Node
    part: Part


@dataclass(slots=True)
class Scan:
    """Rows of the archive, one solution each; with `distinct` one for each set of terms.

    `kinds` are the shapes that have all the patterns; `suspect` asks for rows whose device's time
    was not believed.
    """

    uses: list[Use] = field(default_factory=list)
    kinds: frozenset[str] = KINDS
    suspect: bool = False
    distinct: bool = False
    optionals: list["Attached"] = field(default_factory=list)

    def bound(self) -> dict[str, Part]:
        """The variables, each with the first term that it must be."""
        found: dict[str, Part] = {}
        for use in self.uses:
            if isinstance(use.node, Variable):
                found.setdefault(use.node.name, use.part)
        return found

    def is_bound(self, node: Node, part: Part) -> bool:
        """Whether a node is this term of the row."""
        return any(use.node == node and use.part == part for use in self.uses)


@dataclass(slots=True)
class Attached:
    """An OPTIONAL that looks at a row which is there already: it matches once or not at all."""

    number: int
    uses: list[Use]
    kinds: frozenset[str]
    suspect: bool


class Mapping:
    """The statements of the shapes, by subject and predicate."""

    def __init__(self, shapes: Shapes) -> None:
        self._shapes = {
            QUANTITY: shapes.quantity,
            POSITION: shapes.position,
            VALUE: shapes.value,
            SUSPECT: shapes.suspect,
        }

    @cached_property
    def predicates(self) -> list[str]:
        """Every predicate that there is."""
        return sorted({_predicate(each) for shape in self._shapes.values() for each in shape})

    @cached_property
    def roles(self) -> list[str]:
        """Every mark that is a subject."""
        subjects = (each.subject for shape in self._shapes.values() for each in shape)
        return sorted({subject.name for subject in subjects if isinstance(subject, Mark)})

    def candidates(self, role: str, pattern: Pattern) -> dict[str, list[Statement]]:
        """The statements about `role` that a pattern can be, by shape."""
        found = {
            kind: [each for each in shape if _fits(each, role, pattern)]
            for kind, shape in self._shapes.items()
        }
        return {kind: statements for kind, statements in found.items() if statements}

    def role(self, subject: Node, group: Sequence[Pattern]) -> str:
        """What a subject is, by its patterns; raises QueryError."""
        for pattern in group:
            if pattern.predicate not in self.predicates:
                raise refused(f"<{pattern.predicate}>", f"it has {_listed(self.predicates)}")
        roles = [
            role for role in self.roles if all(self.candidates(role, pattern) for pattern in group)
        ]
        if not roles:
            told = " ; ".join(f"<{p.predicate}> {p.object}" for p in group)
            raise refused(
                f"{subject} {told}", "no subject in the archive has all of these statements"
            )
        if len(roles) > 1:
            raise refused(
                f"{subject}, which may be {' or '.join(roles)},",
                f"say what it is, such as {subject} a <http://www.w3.org/ns/sosa/Observation>",
            )
        return roles[0]

    def match(self, role: str, group: Iterable[Pattern]) -> Scan:
        """The scan of one subject."""
        scan = Scan()
        for pattern in group:
            found = self.candidates(role, pattern)
            kinds = frozenset(found) & KINDS
            if kinds:
                scan.kinds &= kinds
            else:
                scan.suspect, kinds = True, frozenset({SUSPECT})
            parts = {each.object for kind in kinds for each in found[kind]}
            if len(parts) > 1 or any(len(found[kind]) > 1 for kind in kinds):
                raise refused(
                    f"{pattern}, which the profile states in more than one way,",
                    "name the object",
                )
            scan.uses.append(Use(pattern.object, parts.pop()))
        return scan


def scans(mapping: Mapping, triples: Sequence[Pattern]) -> list[Scan]:
    """The scans whose join is the answer of a basic graph pattern; raises QueryError."""
    rows: list[Scan] = []
    sets: list[Scan] = []
    for subject, group in grouped(triples).items():
        role = mapping.role(subject, group)
        if role in KEYS:
            scan = mapping.match(role, group)
            scan.uses.insert(0, Use(subject, Mark(role, is_iri=True)))
            rows.append(scan)
            continue
        for pattern in group:
            scan = mapping.match(role, [pattern])
            scan.uses.insert(0, Use(subject, Mark(role, is_iri=True)))
            scan.distinct = True
            sets.append(scan)
    merged = _merged(rows)
    return merged + [each for each in sets if not any(_implies(row, each) for row in merged)]


def attach(mapping: Mapping, number: int, group: Sequence[Pattern], rows: Sequence[Scan]) -> bool:
    """Add an OPTIONAL's patterns to the row that all of them are about, if there is one."""
    for row in rows:
        attached = _attached(mapping, number, group, row)
        if attached is not None:
            row.optionals.append(attached)
            return True
    return False


def _attached(
    mapping: Mapping, number: int, group: Sequence[Pattern], row: Scan
) -> Attached | None:
    known = {use.node: use.part for use in row.uses if _is_key(use.part)}
    waiting = dict(grouped(group))
    attached = Attached(number, [], KINDS, suspect=False)
    while waiting:
        subject = next((each for each in waiting if each in known), None)
        if subject is None:
            return None
        part = known[subject]
        assert isinstance(part, Mark)  # noqa: S101 - keys are marks
        patterns = waiting.pop(subject)
        if not all(mapping.candidates(part.name, pattern) for pattern in patterns):
            return None
        scan = mapping.match(part.name, patterns)
        attached.uses += scan.uses
        attached.kinds &= scan.kinds
        attached.suspect |= scan.suspect
        known |= {use.node: use.part for use in scan.uses if _is_key(use.part)}
    return attached


def grouped(triples: Iterable[Pattern]) -> dict[Node, list[Pattern]]:
    """Patterns by their subject, in their order."""
    groups: dict[Node, list[Pattern]] = {}
    for pattern in triples:
        groups.setdefault(pattern.subject, []).append(pattern)
    return groups


def _merged(rows: list[Scan]) -> list[Scan]:
    """Rows that a variable's key shows to be the same become one."""
    by_key: dict[tuple[str, str], Scan] = {}
    merged: list[Scan] = []
    for row in rows:
        into = row
        for key in _keys(row):
            other = by_key.get(key)
            if other is not None and other is not into:
                into = _union(other, into, merged)
        if into is row:
            merged.append(row)
        for key in _keys(into):
            by_key[key] = into
    return merged


def _union(into: Scan, scan: Scan, merged: list[Scan]) -> Scan:
    into.uses += scan.uses
    into.kinds &= scan.kinds
    into.suspect |= scan.suspect
    if scan in merged:
        merged[:] = [each for each in merged if each is not scan]
    return into


def _keys(row: Scan) -> list[tuple[str, str]]:
    return [
        (use.node.name, use.part.name)
        for use in row.uses
        if isinstance(use.node, Variable) and isinstance(use.part, Mark) and _is_key(use.part)
    ]


def _implies(row: Scan, each: Scan) -> bool:
    """Whether a row that is there anyway has the statement that a set is asked for."""
    subject, object_ = each.uses
    return (
        row.kinds <= each.kinds
        and not each.suspect
        and row.is_bound(subject.node, subject.part)
        and (
            (isinstance(object_.part, NamedNode) and object_.node == object_.part)
            or row.is_bound(object_.node, object_.part)
        )
    )


def _is_key(part: Part) -> bool:
    return isinstance(part, Mark) and part.name in KEYS


def _fits(statement: Statement, role: str, pattern: Pattern) -> bool:
    subject, object_ = statement.subject, statement.object
    return (
        isinstance(subject, Mark)
        and subject.name == role
        and _predicate(statement) == pattern.predicate
        and (
            isinstance(pattern.object, Variable)
            or isinstance(object_, Mark)
            or object_ == pattern.object
        )
    )


def _predicate(statement: Statement) -> str:
    predicate = statement.predicate
    return predicate.value if isinstance(predicate, NamedNode) else ""


def _listed(predicates: Iterable[str]) -> str:
    return ", ".join(f"<{each}>" for each in predicates if each)
