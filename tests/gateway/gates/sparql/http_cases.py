"""The requests that the W3C manifests describe in RDF (HTTP in RDF, Content in RDF), as values."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import (
    BlankNode,
    CanonicalizationAlgorithm,
    Dataset,
    Literal,
    NamedNode,
    RdfFormat,
    Store,
    parse,
)

HT = "http://www.w3.org/2011/http#"
CNT = "http://www.w3.org/2011/content#"
MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
UT = "http://www.w3.org/2009/sparql/tests/test-update#"

Node = NamedNode | BlankNode
Headers = dict[str, str]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a response must be: one of the statuses (`2xx` for a class), the rest where it is said.

    `location` is the name under which later requests say the value of Location.
    """

    statuses: tuple[str, ...]
    boolean: bool | None
    form: str | None
    location: str | None
    headers: Headers
    body: str | None


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its expected response."""

    method: str
    path: str
    headers: Headers
    body: bytes
    expected: Expected


@dataclass(frozen=True, slots=True)
class Case:
    """Exchanges one after another, over graphs that are there: name and file of each."""

    name: str
    graphs: tuple[tuple[str, Path], ...]
    exchanges: tuple[Exchange, ...]


class Manifest:
    """A manifest file."""

    def __init__(self, path: Path) -> None:
        self._store = Store()
        self._store.bulk_load(path=str(path), format=RdfFormat.TURTLE, base_iri=path.as_uri())
        self._folder = path.parent

    def cases(self) -> Iterator[Case]:
        for kind in ("ProtocolTest", "GraphStoreProtocolTest"):
            found = self._store.quads_for_pattern(None, NamedNode(RDF + "type"), _node(MF + kind))
            for quad in sorted(found, key=lambda quad: str(quad.subject)):
                yield self._case(quad.subject)

    def _case(self, case: object) -> Case:
        action = self._one(case, MF + "action")
        exchanges = [
            self._exchange(each) for each in self._list(self._one(action, HT + "requests"))
        ]
        graphs = [
            (self._text(each, RDFS + "label"), self._file(self._one(each, UT + "graph")))
            for each in self._all(case, UT + "graphData")
        ]
        name = str(case).rpartition("#")[2].rstrip(">")
        return Case(name, tuple(graphs), tuple(exchanges))

    def _exchange(self, request: object) -> Exchange:
        return Exchange(
            self._text(request, HT + "methodName"),
            self._text(request, HT + "absolutePath"),
            self._headers(request),
            self._body(request) or b"",
            self._expected(self._one(request, HT + "resp")),
        )

    def _expected(self, response: object) -> Expected:
        boolean = self._text_or_none(response, MF + "expectedBoolean")
        body = self._body(response)
        return Expected(
            tuple(_status(each) for each in self._all(response, MF + "expectedStatus")),
            None if boolean is None else boolean == "true",
            self._text_or_none(response, MF + "expectedFormat"),
            self._text_or_none(response, MF + "expectedLocation"),
            self._headers(response),
            None if body is None else body.decode(),
        )

    def _headers(self, message: object) -> Headers:
        listed = self._all(message, HT + "headers")
        each = [header for start in listed for header in self._list(start)]
        return {self._text(h, HT + "fieldName"): self._text(h, HT + "fieldValue") for h in each}

    def _body(self, message: object) -> bytes | None:
        content = self._all(message, HT + "body")
        if not content:
            return None
        encoding = self._text(content[0], CNT + "characterEncoding")
        return self._text(content[0], CNT + "chars").encode(encoding)

    def _file(self, node: object) -> Path:
        assert isinstance(node, NamedNode)
        return self._folder / node.value.rpartition("/")[2]

    def _list(self, start: object) -> list[object]:
        items = []
        while start != _node(RDF + "nil"):
            items.append(self._one(start, RDF + "first"))
            start = self._one(start, RDF + "rest")
        return items

    def _all(self, subject: object, predicate: str) -> list[object]:
        assert isinstance(subject, NamedNode | BlankNode)
        found = self._store.quads_for_pattern(subject, NamedNode(predicate), None)
        return [quad.object for quad in found]

    def _one(self, subject: object, predicate: str) -> object:
        (found,) = self._all(subject, predicate)
        return found

    def _text(self, subject: object, predicate: str) -> str:
        found = self._one(subject, predicate)
        assert isinstance(found, Literal)
        return found.value

    def _text_or_none(self, subject: object, predicate: str) -> str | None:
        return self._text(subject, predicate) if self._all(subject, predicate) else None


_STATUSES = {"OK": "200", "Created": "201", "NoContent": "204", "NotFound": "404"}


def _status(node: object) -> str:
    """`200`, or `2xx` for a class of them."""
    assert isinstance(node, NamedNode)
    name = node.value.rpartition("#")[2]
    return _STATUSES.get(name) or name.removeprefix("StatusCode")


def _node(iri: str) -> NamedNode:
    return NamedNode(iri)


def graph_of(text: str, base: str) -> Dataset:
    """A Turtle document as a graph that equals every isomorphic one."""
    dataset = Dataset(parse(text, RdfFormat.TURTLE, base_iri=base))
    dataset.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return dataset
