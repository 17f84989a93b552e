"""Writes random queries over a vocabulary so small that its texts and data meet.

Place: under the oracle tests of the engine. Every text is legal SPARQL 1.1 and its answer is a
function of the dataset alone; what the engine refuses by rule (SERVICE, RAND ...) is not drawn.
"""

from collections.abc import Callable
from itertools import count
from random import Random

from gateway.rdf.namespaces import XSD
from tests.gateway.engine.odd_literals import ODD_TEXTS

IRIS = ("<urn:a>", "<urn:b>", "<urn:c>")
EDGES = ("<urn:p>", "<urn:q>")
GRAPHS = ("<urn:g>", "<urn:h>")
VARIABLES = ("?x", "?y", "?z")
LITERALS = (
    *("1", "01", "1.0", "2", "2.50", "1e0", "true", f"'1'^^<{XSD}boolean>", "'v'", "'v'@en"),
    f"'2020-01-01T00:00:00+00:00'^^<{XSD}dateTime>",
)

COMMON_LITERALS = ("1", "2", "'v'")

_FORMS = ("select",) * 4 + ("single",) * 2 + ("ask", "construct", "slice")
_COMPUTED = (
    *(
        "?y - 1",
        "-?z",
        "?y / 2",
        "ABS(?y)",
        "?y && ?z",
        "?z + ?y",
        "YEAR(?y)",
        f"<{XSD}integer>(?y)",
    ),
    f"?y + 'P1D'^^<{XSD}dayTimeDuration>",
    *(f"?x + 'P1D'^^<{XSD}dayTimeDuration>", "?y + ?x", "?x + ?z"),
    *("?x + 1", "STR(?z)", "COALESCE(?y, 0)", "?z * 2.0e0"),
    *("IF(BOUND(?y), ?y, ?x)", "DATATYPE(?z)", "LANG(?z)", "?y = ?z", "CONCAT(STR(?x), 'v')"),
)
_EXPRESSIONS = ("?x", "?y", "<urn:a>", "01", *_COMPUTED)


class QueryWriter:
    """Writes texts of what it draws; new variables and blank nodes are numbered."""

    def __init__(self, random: Random) -> None:
        """`random` may be Hypothesis's: then a text that fails is shrunk."""
        self._random = random
        self._numbers = count()

    def pick(self, *choices: str) -> str:
        return self._random.choice(choices)

    def chance(self, of: int) -> bool:
        """True once in `of`."""
        return self._random.randint(1, of) == of

    def some(self, write: Callable[[], str], least: int, most: int) -> list[str]:
        return [write() for _ in range(self._random.randint(least, most))]

    def _few(self, most: int) -> int:
        """At most so many, but seldom: what is joined or filtered often is empty."""
        return min(most, self._random.choice((0, 1, 1, 1, 2, 2, 3)))

    def fresh(self, prefix: str) -> str:
        return f"{prefix}{next(self._numbers)}"

    # patterns -------------------------------------------------------------------------------

    def node(self) -> str:
        """An IRI or literal that is likely to be in the data."""
        odd = self.pick(*LITERALS, self.pick(*ODD_TEXTS), self.pick(*ODD_TEXTS))
        return self.pick(*IRIS, *IRIS, *COMMON_LITERALS, odd)

    def subject(self) -> str:
        return self.pick(*VARIABLES, *VARIABLES, *IRIS, "[]")

    def object(self) -> str:
        return self.pick(*VARIABLES, *VARIABLES, self.node(), "[]")

    def triple(self) -> str:
        """Mostly one of a chain or a star; the more constants it had, the less it would match."""
        edge = self.pick(*EDGES, *EDGES, *EDGES, "?e", "?y")
        kind = self.pick("chain", "chain", "chain", "chain", "constant", "any")
        if kind == "chain":
            ends = self.pick("?x {} ?y", "?x {} ?y", "?y {} ?z", "?x {} ?z", "?z {} ?x")
            return f"{ends.format(edge)} ."
        if kind == "constant":
            ends = self.pick("?x {} @", "?y {} @", "@ {} ?x", "@ {} ?y")
            node = self.pick(*IRIS) if ends[0] == "@" else self.node()
            return f"{ends.format(edge).replace('@', node)} ."
        return f"{self.subject()} {edge} {self.object()} ."

    def path(self) -> str:
        path = self.pick(
            *("<urn:p>*", "<urn:p>+", "<urn:p>?", "<urn:p>/<urn:q>", "^<urn:p>", "!<urn:p>"),
            *("(<urn:p>|<urn:q>)", "(<urn:p>/^<urn:q>)+", "!(<urn:p>|^<urn:q>)"),
            *("<urn:p>/<urn:q>*", "(<urn:p>|^<urn:q>)/<urn:p>", "^(<urn:p>/<urn:q>)"),
        )
        subject = self.pick("?x", "?x", "?y", self.subject())
        return f"{subject} {path} {self.pick('?y', '?z', '?x', self.object())} ."

    def test(self) -> str:
        variable, other = self.pick(*VARIABLES), self.pick(*VARIABLES)
        return self.pick(
            f"{variable} = {self.pick(*VARIABLES, *IRIS, *LITERALS)}",
            f"{variable} != {self.pick(*VARIABLES, *IRIS, *LITERALS)}",
            f"{variable} > 1",
            f"{variable} <= {other}",
            f"{variable} {self.pick('=', '!=', '<', '>=')} {self.pick(*ODD_TEXTS)}",
            variable,
            f"!{variable}",
            f"BOUND({variable})",
            f"!BOUND({variable})",
            f"!({variable} > 1)",
            f"{variable} > 1 || BOUND({other})",
            f"{variable} = {self.pick(*IRIS)} || {other} = {self.pick(*IRIS, *LITERALS)}",
            f"{variable} = {self.pick(*IRIS)} && {other} != {self.pick(*IRIS, *LITERALS)}",
            f"isBlank({variable})",
            f"isIRI({variable}) && STRENDS(STR({variable}), 'a')",
            f"sameTerm({variable}, {self.pick(*VARIABLES, *LITERALS)})",
            f"{variable} IN ({self.pick(*IRIS)}, 1)",
            f"{variable} NOT IN ({self.pick(*IRIS)}, {other})",
        )

    def _basic(self, depth: int) -> str:
        del depth
        return " ".join(self.some(self.triple, 1, max(1, self._few(3))))

    def _path(self, depth: int) -> str:
        del depth
        return self.path()

    def _optional(self, depth: int) -> str:
        return f"OPTIONAL {self.group(depth - 1)}"

    def _optional_filter(self, depth: int) -> str:
        """The inner FILTER sees the variables outside."""
        del depth
        inner = f"{self.pick('?x', '?y', '?z')} {self.pick(*EDGES)} ?w"
        test = self.pick("?w = ?z", "?w != ?y", "?w > 1", "!BOUND(?z)", "?w = ?w2")
        deeper = self.pick("", "", f"OPTIONAL {{ ?w {self.pick(*EDGES)} ?w2 }}")
        return f"OPTIONAL {{ {inner} FILTER({test}) {deeper} }}"

    def _union(self, depth: int) -> str:
        branches = self.some(lambda: self.group(depth - 1), 2, 3)
        if self.chance(5):
            branches = [branches[0], branches[0]]
        return " UNION ".join(branches)

    def _minus(self, depth: int) -> str:
        return f"MINUS {self.group(depth - 1)}"

    def _minus_pattern(self, depth: int) -> str:
        """With several matches, or no variable in common."""
        del depth
        subject = self.pick("?x", "?y", "?u", *IRIS)
        return f"MINUS {{ {subject} {self.pick(*EDGES)} {self.pick('?v', '?x', '?y', '1')} }}"

    def _graph(self, depth: int) -> str:
        return f"GRAPH {self.pick(*GRAPHS, '?g', '?g', '?x')} {self.group(depth - 1)}"

    def _exists(self, depth: int) -> str:
        existence = f"{self.pick('EXISTS', 'NOT EXISTS')} {self.group(depth - 1)}"
        if self.chance(4):
            return f"FILTER ({existence} {self.pick('||', '&&')} {self.test()})"
        return f"FILTER {existence}"

    def _filter(self, depth: int) -> str:
        del depth
        return f"FILTER ({self.test()})"

    def _bind(self, depth: int) -> str:
        del depth
        name = self.fresh("?n")
        after = self.pick("", "", "", f" {name} {self.pick(*EDGES)} ?z .", f" FILTER({name} = ?y)")
        return f"BIND ({self.pick(*_EXPRESSIONS)} AS {name}){after}"

    def _values(self, depth: int) -> str:
        del depth
        return f"VALUES {self._table()}"

    def _table(self) -> str:
        """Rows with UNDEF; some are repeated."""

        def cell() -> str:
            return self.pick("UNDEF", *IRIS, "1")

        if self.chance(2):
            rows = self.some(cell, 1, 3)
            return f"{self.pick(*VARIABLES)} {{ {' '.join(rows)} }}"
        pairs = self.some(lambda: f"({cell()} {cell()})", 0, 3)
        return f"({self.pick('?x ?y', '?y ?z', '?z ?x')}) {{ {' '.join(pairs + pairs[:1])} }}"

    def _sub_select(self, depth: int) -> str:
        return f"{{ {self.select(depth - 1)} }}"

    def _nested(self, depth: int) -> str:
        return self.group(depth - 1)

    def group(self, depth: int) -> str:
        """A group graph pattern; `depth` bounds the nesting."""
        flat = (
            *(self._basic, self._basic, self._basic, self._filter, self._bind, self._values),
            *(self._optional_filter, self._minus_pattern),
        )
        deep = (
            *(self._optional, self._optional, self._union, self._minus, self._graph, self._graph),
            *(self._exists, self._sub_select, self._nested, self._path),
        )
        kinds = flat + deep if depth > 0 else flat
        first = self._random.choice((*flat[:3], self._graph) if depth else flat[:1])
        rest = [self._random.choice(kinds) for _ in range(self._few(3 if depth else 1))]
        return "{ " + " ".join(write(depth) for write in (first, *rest)) + " }"

    # queries --------------------------------------------------------------------------------

    def select(self, depth: int, dataset: str = "") -> str:
        """A SELECT that may aggregate, of which every column has a value by rule."""
        where = f"{dataset}WHERE {self.group(max(depth, 0))}"
        shape = self.pick(
            *("star", "star", "plain", "distinct", "exists", "grouped", "keyed", "whole"), "values"
        )
        match shape:
            case "star":
                return f"SELECT {self.pick('', '', 'REDUCED ')}* {where}"
            case "plain":
                order = self.pick("", "", " ORDER BY ?y DESC(?x)")
                return f"SELECT {self.pick('?x', '?x ?y', '?z ?g ?x')} {where}{order}"
            case "distinct":
                return f"SELECT DISTINCT {self.pick('?x', '?y ?z', '*')} {where}"
            case "exists":
                return f"SELECT ?x (EXISTS {self.group(0)} AS {self.fresh('?n')}) {where}"
            case "values":
                return f"SELECT * {where} VALUES {self._table()}"
            case "grouped":
                return f"SELECT ?x {self._aggregates()} {where} GROUP BY ?x{self._having()}"
            case "keyed":
                key = self.fresh("?k")
                keys = f"({self.pick(*_COMPUTED)} AS {key}) {self.pick('', '?y')}"
                return f"SELECT {key} {self._aggregates()} {where} GROUP BY {keys}{self._having()}"
            case _:
                return f"SELECT {self._aggregates()} {where}"

    def _having(self) -> str:
        having = self.pick(
            "", "", "COUNT(*) > 1", "MAX(?y) > 1 || COUNT(?z) = 0", f"EXISTS {self.group(0)}"
        )
        return having and f" HAVING ({having})"

    def _aggregates(self) -> str:
        return " ".join(self.some(self._aggregate, 1, 2))

    def _aggregate(self) -> str:
        value = self.pick(
            *("COUNT(*)", "COUNT(?y)", "COUNT(DISTINCT ?y)", "SUM(?z)", "MAX(?y)", "AVG(?z)"),
            *("MIN(?z)", "SUM(DISTINCT ?z)", "COUNT(DISTINCT *)", "MIN(STR(?y))", "SAMPLE(?z)"),
            *(
                "COUNT(?y + 1)",
                "COUNT(DISTINCT ?z * 2)",
                "COUNT(?y > 1)",
                "MAX(?y + 1)",
                "SUM(-?y)",
            ),
            *("GROUP_CONCAT(?z)", "GROUP_CONCAT(DISTINCT ?z; SEPARATOR=',')", "COUNT(?y) + 1"),
        )
        return f"({value} AS {self.fresh('?n')})"

    def _construct(self, dataset: str) -> str:
        template = self.pick("?x <urn:made> ?y", "?x <urn:p> ?y . ?y ?z <urn:a>", "?x ?y ?z")
        return f"CONSTRUCT {{ {template} }} {dataset}WHERE {self.group(2)}"

    def _single(self, dataset: str) -> str:
        pattern = f"{{ {self.path() if self.chance(3) else self.triple()} }}"
        if self.chance(2):
            pattern = f"{{ GRAPH {self.pick(*GRAPHS, '?g', '?x')} {pattern} }}"
        columns = self.pick("*", "*", "?x", "?y ?x ?nowhere")
        return f"SELECT {columns} {dataset}WHERE {pattern}"

    def _slice(self, dataset: str) -> str:
        order = self.pick("?x ?y", f"(EXISTS {self.group(0)}) DESC(?x) ?y")
        bounds = self.pick("LIMIT 2", "LIMIT 1 OFFSET 1", "OFFSET 1", "LIMIT 0")
        return f"SELECT ?x ?y {dataset}WHERE {self.group(1)} ORDER BY {order} {bounds}"

    def query(self) -> str:
        dataset = ""
        if self.chance(5):
            clauses = ("FROM <urn:g>", "FROM <urn:h>", "FROM NAMED <urn:g>", "FROM NAMED <urn:h>")
            chosen = {self.pick(*clauses) for _ in range(self._random.randint(1, 3))}
            dataset = " ".join(sorted(chosen)) + " "
        match self.pick(*_FORMS):
            case "single":
                return self._single(dataset)
            case "ask":
                return f"ASK {dataset}{self.group(2)}"
            case "construct":
                return self._construct(dataset)
            case "slice":
                return self._slice(dataset)
            case _:
                return self.select(self._random.randint(1, 2), dataset)
