"""Random states, UPDATE requests and queries over a vocabulary so small that they meet.

Place: under the oracle tests of the engine. Every text is legal SPARQL 1.1 and its answer is a
function of the dataset alone; what the engine refuses by rule (SERVICE, RAND ...) is not drawn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, product, starmap

from hypothesis import strategies as st
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad

from gateway.rdf.namespaces import XSD

IRIS = ("<urn:a>", "<urn:b>", "<urn:c>")
EDGES = ("<urn:p>", "<urn:q>")
GRAPHS = ("<urn:g>", "<urn:h>")
VARIABLES = ("?x", "?y", "?z")
LITERALS = ("1", "01", "1.0", "2", "2.50", "true", f"'1'^^<{XSD}boolean>", "'v'", "'v'@en")

PROLOGUE = "PREFIX u: <urn:>\n"
"""What one request in three begins with."""

_QUERY_FORMS = ("select",) * 3 + ("single",) * 2 + ("ask", "construct", "slice")

_NODES = (*(NamedNode(iri[1:-1]) for iri in IRIS), BlankNode("m"), BlankNode("n"))
_LITERALS = (
    Literal(1),
    Literal(2),
    Literal("01", datatype=NamedNode(XSD + "integer")),
    Literal("2.50", datatype=NamedNode(XSD + "decimal")),
    Literal("1", datatype=NamedNode(XSD + "boolean")),
    Literal("v"),
    Literal("v", language="en"),
)
_NAMES = tuple(NamedNode(graph[1:-1]) for graph in GRAPHS)
QUADS = tuple(
    starmap(
        Quad,
        product(
            _NODES,
            [NamedNode(edge[1:-1]) for edge in EDGES],
            (*_NODES, *_LITERALS),
            (DefaultGraph(), *_NAMES),
        ),
    )
)


@dataclass(frozen=True, slots=True)
class State:
    """What is in a store before an UPDATE: quads, and named graphs that may be empty."""

    quads: tuple[Quad, ...]
    graphs: tuple[NamedNode, ...]


_IN_BLANK_GRAPH = tuple(
    Quad(quad.subject, quad.predicate, quad.object, BlankNode("k"))
    for quad in QUADS
    if quad.graph_name == _NAMES[0]
)
"""No text can name such a graph, but INSERT { GRAPH ?g ... } makes one of a blank node."""


def _quads(most: int) -> st.SearchStrategy[list[Quad]]:
    return st.lists(st.sampled_from(QUADS), max_size=most, unique=True)


states = st.builds(
    State,
    st.one_of(
        _quads(12),
        _quads(12),
        st.tuples(_quads(8), st.sampled_from(_IN_BLANK_GRAPH)).map(
            lambda pair: [*pair[0], pair[1]]
        ),
    ).map(tuple),
    st.sets(st.sampled_from(_NAMES)).map(lambda names: tuple(sorted(names, key=str))),
)


class Writer:
    """Writes texts of what it draws; new variables and blank nodes are numbered."""

    def __init__(self, draw: st.DrawFn, *, makes_blanks: bool = True) -> None:
        """Without `makes_blanks`, no UPDATE makes a blank node."""
        self._draw = draw
        self._makes_blanks = makes_blanks
        self._numbers = count()

    def pick(self, *choices: str) -> str:
        return self._draw(st.sampled_from(choices))

    def chance(self, of: int) -> bool:
        """True once in `of`."""
        return self._draw(st.integers(1, of)) == of

    def some(self, write: Callable[[], str], least: int, most: int) -> list[str]:
        return [write() for _ in range(self._draw(st.integers(least, most)))]

    def fresh(self, prefix: str) -> str:
        return f"{prefix}{next(self._numbers)}"

    # patterns -------------------------------------------------------------------------------

    def subject(self) -> str:
        return self.pick(*VARIABLES, *VARIABLES, *IRIS, "[]")

    def object(self) -> str:
        return self.pick(*VARIABLES, *VARIABLES, *IRIS, *LITERALS, "[]")

    def triple(self) -> str:
        edge = self.pick(*EDGES, *EDGES, "?y", "?z")
        return f"{self.subject()} {edge} {self.object()} ."

    def path(self) -> str:
        path = self.pick(
            "<urn:p>*",
            "<urn:p>+",
            "<urn:p>?",
            "<urn:p>/<urn:q>",
            "^<urn:p>",
            "(<urn:p>|<urn:q>)",
            "!<urn:p>",
            "(<urn:p>/^<urn:q>)+",
            "!(<urn:p>|^<urn:q>)",
        )
        return f"{self.subject()} {path} {self.object()} ."

    def test(self) -> str:
        variable = self.pick(*VARIABLES)
        return self.pick(
            f"{variable} = {self.pick(*VARIABLES, *IRIS, *LITERALS)}",
            f"{variable} != {self.pick(*IRIS, *LITERALS)}",
            f"{variable} > 1",
            f"BOUND({variable})",
            f"!BOUND({variable})",
            f"isBlank({variable})",
            f"{variable} IN ({self.pick(*IRIS)}, 1)",
        )

    def _basic(self, depth: int) -> str:
        del depth
        return " ".join(self.some(self.triple, 1, 2))

    def _path(self, depth: int) -> str:
        del depth
        return self.path()

    def _optional(self, depth: int) -> str:
        return f"OPTIONAL {self.group(depth - 1)}"

    def _union(self, depth: int) -> str:
        return f"{self.group(depth - 1)} UNION {self.group(depth - 1)}"

    def _minus(self, depth: int) -> str:
        return f"MINUS {self.group(depth - 1)}"

    def _graph(self, depth: int) -> str:
        return f"GRAPH {self.pick(*GRAPHS, '?g', '?g', '?x')} {self.group(depth - 1)}"

    def _exists(self, depth: int) -> str:
        return f"FILTER {self.pick('EXISTS', 'NOT EXISTS')} {self.group(depth - 1)}"

    def _filter(self, depth: int) -> str:
        del depth
        return f"FILTER ({self.test()})"

    def _bind(self, depth: int) -> str:
        del depth
        value = self.pick("?x", "?y", "?x + 1", "STR(?z)", "COALESCE(?y, 0)", "<urn:a>", "01")
        return f"BIND ({value} AS {self.fresh('?n')})"

    def _values(self, depth: int) -> str:
        del depth
        rows = self.some(lambda: self.pick("UNDEF", *IRIS, "1"), 1, 3)
        return f"VALUES {self.pick(*VARIABLES)} {{ {' '.join(rows)} }}"

    def _sub_select(self, depth: int) -> str:
        return f"{{ {self.select(depth - 1)} }}"

    def _nested(self, depth: int) -> str:
        return self.group(depth - 1)

    def group(self, depth: int) -> str:
        """A group graph pattern; `depth` bounds the nesting."""
        flat = (self._basic, self._basic, self._basic, self._filter, self._bind, self._values)
        deep = (
            *(self._optional, self._union, self._minus, self._graph, self._graph),
            *(self._exists, self._sub_select, self._nested, self._path),
        )
        kinds = flat + deep if depth > 0 else flat[:4]
        first = self._draw(st.sampled_from((self._basic, self._graph) if depth else flat[:1]))
        rest = self._draw(st.lists(st.sampled_from(kinds), max_size=2 if depth else 1))
        return "{ " + " ".join(write(depth) for write in (first, *rest)) + " }"

    # queries --------------------------------------------------------------------------------

    def select(self, depth: int, dataset: str = "") -> str:
        """A SELECT that may aggregate, of which every column has a value by rule."""
        where = f"{dataset}WHERE {self.group(max(depth, 0))}"
        shape = self.pick("star", "star", "plain", "distinct", "exists", "grouped", "whole")
        match shape:
            case "star":
                return f"SELECT * {where}"
            case "plain":
                return f"SELECT {self.pick('?x', '?x ?y', '?z ?g ?x')} {where}"
            case "distinct":
                return f"SELECT DISTINCT {self.pick('?x', '?y ?z', '*')} {where}"
            case "exists":
                return f"SELECT ?x (EXISTS {self.group(0)} AS {self.fresh('?n')}) {where}"
            case "grouped":
                having = self.pick("", "", "COUNT(*) > 1", f"EXISTS {self.group(0)}")
                having = having and f" HAVING ({having})"
                return f"SELECT ?x {self._aggregate()} {where} GROUP BY ?x{having}"
            case _:
                return f"SELECT {self._aggregate()} {where}"

    def _aggregate(self) -> str:
        value = self.pick(
            *("COUNT(*)", "COUNT(?y)", "COUNT(DISTINCT ?y)", "SUM(?z)", "MAX(?y)"),
            *("AVG(?z)", "MIN(?z)"),
        )
        return f"({value} AS {self.fresh('?n')})"

    def _construct(self, dataset: str) -> str:
        template = self.pick("?x <urn:made> ?y", "?x <urn:p> ?y . ?y ?z <urn:a>")
        return f"CONSTRUCT {{ {template} }} {dataset}WHERE {self.group(2)}"

    def _single(self, dataset: str) -> str:
        pattern = f"{{ {self.path() if self.chance(3) else self.triple()} }}"
        if self.chance(2):
            pattern = f"{{ GRAPH {self.pick(*GRAPHS, '?g', '?x')} {pattern} }}"
        columns = self.pick("*", "*", "?x", "?y ?x ?nowhere")
        return f"SELECT {columns} {dataset}WHERE {pattern}"

    def query(self) -> str:
        dataset = ""
        if self.chance(5):
            clauses = ("FROM <urn:g>", "FROM <urn:h>", "FROM NAMED <urn:g>", "FROM NAMED <urn:h>")
            chosen = self._draw(st.sets(st.sampled_from(clauses), min_size=1))
            dataset = " ".join(sorted(chosen)) + " "
        match self._draw(st.sampled_from(_QUERY_FORMS)):
            case "single":
                return self._single(dataset)
            case "ask":
                return f"ASK {dataset}{self.group(2)}"
            case "construct":
                return self._construct(dataset)
            case "slice":
                order = self.pick("?x ?y", f"(EXISTS {self.group(0)}) DESC(?x) ?y")
                bounds = self.pick("LIMIT 2", "LIMIT 1 OFFSET 1", "OFFSET 1")
                return f"SELECT ?x ?y {dataset}WHERE {self.group(1)} ORDER BY {order} {bounds}"
            case _:
                return self.select(2, dataset)

    # updates --------------------------------------------------------------------------------

    def _in_graphs(self, triple: Callable[[], str], names: Sequence[str], most: int) -> str:
        """Quads between braces, some of them in a GRAPH."""

        def quads() -> str:
            inner = " ".join(self.some(triple, 1, 2))
            return inner if self.chance(2) else f"GRAPH {self.pick(*names)} {{ {inner} }}"

        return " ".join(self.some(quads, 1, most))

    def _data(self, blank: bool) -> str:
        labels = (self.fresh("_:l"), "[]") if blank and self._makes_blanks else ()

        def triple() -> str:
            subject = self.pick(*IRIS, *labels)
            return f"{subject} {self.pick(*EDGES)} {self.pick(*IRIS, *LITERALS, *labels)} ."

        return f"{{ {self._in_graphs(triple, GRAPHS, 2)} }}"

    def _template(self, blank: bool) -> str:
        labels = (self.fresh("_:l"),) if blank and self._makes_blanks else ()

        def triple() -> str:
            subject = self.pick(*VARIABLES, *IRIS, *labels)
            edge = self.pick(*EDGES, *EDGES, "?y")
            target = self.pick(*VARIABLES, *IRIS, *LITERALS, *labels)
            return f"{subject} {edge} {target} ."

        return f"{{ {self._in_graphs(triple, (*GRAPHS, '?g', '?x'), 2)} }}"

    def modify(self, using: str | None = None) -> str:
        """DELETE/INSERT ... WHERE; `using` replaces the clauses before WHERE, WITH among them."""
        head = ""
        if using is None:
            head = self.pick("", "", "", "WITH <urn:g> ", "WITH <urn:h> ")
            using = self.pick(
                *("", "", "", "USING <urn:g> ", "USING NAMED <urn:h> "),
                *("USING <urn:g> USING <urn:h> ", "USING <urn:h> USING NAMED <urn:g> "),
            )
        match self.pick("delete", "insert", "both", "both"):
            case "delete":
                templates = f"DELETE {self._template(blank=False)} "
            case "insert":
                templates = f"INSERT {self._template(blank=True)} "
            case _:
                templates = (
                    f"DELETE {self._template(blank=False)} INSERT {self._template(blank=True)} "
                )
        return f"{head}{templates}{using}WHERE {self.group(self._draw(st.integers(0, 2)))}"

    def _delete_where(self) -> str:
        def triple() -> str:
            edge = self.pick(*EDGES, *EDGES, "?y")
            target = self.pick(*VARIABLES, *IRIS, *LITERALS)
            return f"{self.pick(*VARIABLES, *IRIS)} {edge} {target} ."

        return f"DELETE WHERE {{ {self._in_graphs(triple, (*GRAPHS, '?g'), 2)} }}"

    def _manage(self) -> str:
        silent = self.pick("", "SILENT ", "SILENT ")
        verb = self.pick("CLEAR", "DROP", "CREATE", "COPY", "MOVE", "ADD")
        graph = self.pick(*GRAPHS)
        if verb == "CREATE":
            return f"CREATE {silent}GRAPH {graph}"
        if verb in {"CLEAR", "DROP"}:
            target = self.pick(f"GRAPH {graph}", f"GRAPH {graph}", "DEFAULT", "NAMED", "ALL")
            return f"{verb} {silent}{target}"
        source, target = self.pick("DEFAULT", *GRAPHS), self.pick("DEFAULT", *GRAPHS)
        return f"{verb} {silent}{source} TO {target}"

    def operation(self) -> str:
        match self.pick("insert", "insert", "delete", "modify", "modify", "where", "manage"):
            case "insert":
                return f"INSERT DATA {self._data(blank=True)}"
            case "delete":
                return f"DELETE DATA {self._data(blank=False)}"
            case "modify":
                return self.modify()
            case "where":
                return self._delete_where()
            case _:
                return self._manage()

    def request(self, most: int = 3) -> str:
        """One to `most` operations, of which a later one sees what the earlier ones did."""
        text = " ;\n".join(self.some(self.operation, 1, most))
        if self.chance(3):
            return PROLOGUE + text.replace("<urn:q>", "u:q").replace("<urn:b>", "u:b")
        return text


@st.composite
def requests(draw: st.DrawFn, most: int = 3) -> str:
    return Writer(draw).request(most)


@st.composite
def plain_requests(draw: st.DrawFn, most: int = 3) -> str:
    """Requests that do the same to equal stores: they make no blank nodes."""
    return Writer(draw, makes_blanks=False).request(most)


@st.composite
def modifies(draw: st.DrawFn, using: str) -> str:
    return Writer(draw).modify(using)


@st.composite
def queries(draw: st.DrawFn) -> str:
    return Writer(draw).query()
