"""Ontologies as files: which ship, and what of a file comes into the ontology graph.

Place: before the reasoner. `[reasoning] ontologies` and profiles name them, the store keeps what
they say, the reasoner reads it there. A blank node is named by what is said of it and by whom, so
that the same file read twice says the same, and one axiom changed in it changes no other.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from pyoxigraph import BlankNode, NamedNode, Quad, RdfFormat, Triple, parse

import ontologies
from gateway.errors import OntologyError
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.namespaces import ONTOLOGY_GRAPH, OWL, RDF, RDFS
from gateway.reasoning.axioms import read_axioms

_SHIPPED = ("building", "sosa-profile")
"""What the others beside them state is for people, and for checks."""

_TYPE = f"{RDF}type"
_LISTS = frozenset({f"{RDF}first", f"{RDF}rest"})
_ANNOTATIONS = frozenset(
    {
        *(f"{RDFS}{name}" for name in ("label", "comment", "seeAlso", "isDefinedBy")),
        *(
            f"{OWL}{name}"
            for name in (
                "backwardCompatibleWith",
                "deprecated",
                "imports",
                "incompatibleWith",
                "priorVersion",
                "versionIRI",
                "versionInfo",
            )
        ),
    }
)
"""What OWL and RDFS say to people (OWL 2 Structural Specification, 5.5 and 3.5)."""

_NOT_SAID = frozenset({f"{OWL}Ontology", f"{OWL}AnnotationProperty"})
"""Types that are no axioms either."""


@cache
def shipped() -> Mapping[str, Path]:
    """The files of the ontologies that ship, by name."""
    folder = Path(ontologies.__path__[0])
    return {name: folder / f"{name}.ttl" for name in _SHIPPED}


def ontology_path(word: str, place: str) -> Path:
    """The file that a word names: one that ships, or a path. Raises OntologyError."""
    path = Path(word)
    if len(path.parts) != 1 or path.suffix:
        return path
    if word not in shipped():
        names = ", ".join(shipped())
        raise OntologyError(
            f"{place}: no ontology {word!r} ships", f"those are {names}; or name a file"
        )
    return shipped()[word]


@dataclass(frozen=True, slots=True)
class OntologyFile:
    """A file as it was when it was looked at; `digest` is that of its bytes."""

    path: Path
    digest: str

    @classmethod
    def at(cls, path: Path) -> "OntologyFile":
        """The file of now. Raises OntologyError."""
        return cls(path, sha256(_read(path)).hexdigest())

    def quads(self, *, annotations: bool = False) -> tuple[Quad, ...]:
        """What it says. Raises OntologyError, also where it has changed since."""
        content = _read(self.path)
        if sha256(content).hexdigest() != self.digest:
            raise OntologyError(f"{self.path} changes while it is read", "try again")
        return _parsed(self.path, content, annotations)


def load_ontology(path: Path, *, annotations: bool = False) -> tuple[Quad, ...]:
    """The axioms of a file as quads of the ontology graph; linear in the file.

    With `annotations` everything that it says. Raises OntologyError naming file and line.
    """
    return _parsed(path, _read(path), annotations)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise OntologyError(
            f"the ontology {path} cannot be read: {error.strerror}",
            "correct [reasoning] ontologies or the profile, or let the gateway read the file",
        ) from error


def _parsed(path: Path, content: bytes, annotations: bool) -> tuple[Quad, ...]:
    form = RdfFormat.from_extension(path.suffix.removeprefix(".").replace("owl", "rdf"))
    if form is None:
        raise OntologyError(
            f"the ontology {path} is of no known format", "its name ends in .ttl, .rdf, .owl, .nt"
        )
    try:
        every = parse(content, format=form)
        said = list(every if annotations else filter(_is_axiom, every))
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        place = f"{path}:{line}" if line else str(path)
        raise OntologyError(
            f"{place}: {getattr(error, 'msg', None) or error}", "correct the file there"
        ) from error
    if not annotations:
        said = _without_other_lists(said)
    quads = tuple(dict.fromkeys(map(canonical_quad, _in_graph(said))))
    try:
        read_axioms(quads)
    except OntologyError as error:
        raise OntologyError(f"{path}: {error.description}", error.hint) from error
    return quads


def _without_other_lists(said: list[Quad]) -> list[Quad]:
    """What may be concluded from, without the lists that nothing of it leads to."""
    cells = defaultdict[object, list[Quad]](list)
    for quad in said:
        if quad.predicate.value in _LISTS:
            cells[quad.subject].append(quad)
    led_to = {quad.object for quad in said if quad.predicate.value not in _LISTS} & cells.keys()
    ready = list(led_to)
    while ready:
        more = ({quad.object for quad in cells[ready.pop()]} & cells.keys()) - led_to
        led_to |= more
        ready += more
    return [quad for quad in said if quad.predicate.value not in _LISTS or quad.subject in led_to]


def _is_axiom(quad: Quad) -> bool:
    """Whether it is part of what OWL and RDFS may conclude from, used by our rules or not."""
    if isinstance(quad.object, Triple):
        return False
    predicate = quad.predicate.value
    if predicate == _TYPE:
        kind = quad.object
        return (
            isinstance(kind, NamedNode)
            and kind.value.startswith((OWL, RDFS))
            and kind.value not in _NOT_SAID
        )
    if predicate in _LISTS:
        return True
    return predicate.startswith((OWL, RDFS)) and predicate not in _ANNOTATIONS


def _in_graph(quads: list[Quad]) -> Iterator[Quad]:
    names = _names(quads)
    for quad in quads:
        subject, value = quad.subject, quad.object
        if isinstance(subject, BlankNode):
            subject = names[subject]
        if isinstance(value, BlankNode):
            value = names[value]
        yield Quad(subject, quad.predicate, value, ONTOLOGY_GRAPH)


def _names(quads: Iterable[Quad]) -> dict[BlankNode, BlankNode]:
    """A name for each blank node: of what it says, down to the leaves, and of who names it."""
    says, named_by = (
        defaultdict[BlankNode, list[Quad]](list),
        defaultdict[BlankNode, list[Quad]](list),
    )
    nodes: dict[BlankNode, None] = {}
    for quad in quads:
        if isinstance(quad.subject, BlankNode):
            nodes[quad.subject] = None
            says[quad.subject].append(quad)
        if isinstance(quad.object, BlankNode):
            nodes[quad.object] = None
            named_by[quad.object].append(quad)
    order = _leaves_first(nodes, says, named_by)
    content: dict[BlankNode, str] = {}
    for number, node in enumerate(order):
        said = sorted(
            f"{each.predicate} {_known(each.object, content, number)}" for each in says[node]
        )
        content[node] = _digest(said)
    names: dict[BlankNode, str] = {}
    for node in reversed(order):
        by = sorted(f"{_known(each.subject, names, 0)} {each.predicate}" for each in named_by[node])
        names[node] = _digest([content[node], *by])
    return {node: BlankNode(name) for node, name in names.items()}


def _known(term: object, known: Mapping[BlankNode, str], number: int) -> str:
    """What stands for a term; in a circle of blank nodes the place in the file does."""
    return known.get(term, str(number)) if isinstance(term, BlankNode) else str(term)


def _digest(texts: Iterable[str]) -> str:
    return "o" + sha256("\n".join(texts).encode()).hexdigest()[:30]


def _leaves_first(
    nodes: Iterable[BlankNode],
    says: Mapping[BlankNode, list[Quad]],
    named_by: Mapping[BlankNode, list[Quad]],
) -> list[BlankNode]:
    """Each node behind those that it names; of a circle in the order of the file."""
    missing = {
        node: sum(isinstance(each.object, BlankNode) for each in says.get(node, ()))
        for node in nodes
    }
    ready = deque(node for node, count in missing.items() if not count)
    order: dict[BlankNode, None] = {}
    while len(order) < len(missing):
        if not ready:
            ready.append(next(node for node in missing if node not in order))
        node = ready.popleft()
        if node in order:
            continue
        order[node] = None
        for each in named_by.get(node, ()):
            if isinstance(each.subject, BlankNode):
                missing[each.subject] -= 1
                if not missing[each.subject]:
                    ready.append(each.subject)
    return list(order)
