"""37 shapes of queries, from a single pattern to arbitrary paths, and random updates of their data.

Place on the way of the data: the workload of shapes_run.py. The shapes are those on which the
incremental engines that others wrote were probed; several of them send wrong rows for MINUS, for
OPTIONAL with a FILTER and for MIN beside MAX, or refuse EXISTS and paths with `*` and `+`.
"""

from collections.abc import Iterator, Sequence
from random import Random

from pyoxigraph import Literal, NamedNode, Quad

from gateway.rdf.namespaces import XSD

NS = "https://sosa-gateway.example/shape/"
_PREFIX = f"PREFIX : <{NS}>\n"
_GRAPHS = (None, None, None, "g1", "g2")
_FEW = 6

SHAPES = {
    "pattern": "SELECT ?s ?v { ?s :value ?v }",
    "join of 2": "SELECT ?a ?v { ?a :p ?b . ?b :value ?v }",
    "join of 3": "SELECT ?a ?c ?v { ?a :p ?b . ?b :q ?c . ?c :value ?v }",
    "triangle": "SELECT ?a ?b ?c { ?a :p ?b . ?b :q ?c . ?c :r ?a }",
    "cartesian": "SELECT ?a ?b { ?a :kind :Rare . ?b :p :n1 }",
    "FILTER": "SELECT ?s ?v { ?s :value ?v FILTER(?v > 50) }",
    "bag projection": "SELECT ?a { ?a :p ?b . ?b :q ?c }",
    "DISTINCT": "SELECT DISTINCT ?a { ?a :p ?b . ?b :q ?c }",
    "UNION": "SELECT ?a ?b { { ?a :p ?b } UNION { ?b :q ?a } }",
    "OPTIONAL": "SELECT ?a ?b ?v { ?a :p ?b OPTIONAL { ?b :value ?v } }",
    "BIND": "SELECT ?s ?w { ?s :value ?v BIND(?v * 2 AS ?w) }",
    "VALUES": "SELECT ?s ?b { ?s :p ?b VALUES ?b { :n1 :n2 :n3 } }",
    "COUNT": "SELECT (COUNT(*) AS ?n) { ?a :p ?b }",
    "COUNT DISTINCT": "SELECT (COUNT(DISTINCT ?b) AS ?n) { ?a :p ?b }",
    "SUM": "SELECT (SUM(?v) AS ?sum) { ?s :value ?v }",
    "AVG": "SELECT (AVG(?v) AS ?mean) { ?s :value ?v }",
    "MIN": "SELECT (MIN(?v) AS ?least) { ?s :value ?v }",
    "MIN with MAX": (
        "SELECT ?k (MIN(?v) AS ?a) (MAX(?v) AS ?z) { ?s :kind ?k ; :value ?v } GROUP BY ?k"
    ),
    "GROUP BY": "SELECT ?k (COUNT(?s) AS ?n) { ?s :kind ?k } GROUP BY ?k",
    "HAVING": "SELECT ?b (COUNT(?a) AS ?n) { ?a :p ?b } GROUP BY ?b HAVING(COUNT(?a) > 2)",
    "sub-SELECT": (
        "SELECT ?a ?z { ?a :p ?b { SELECT ?b (MAX(?v) AS ?z) { ?b :value ?v } GROUP BY ?b } }"
    ),
    "ORDER BY": "SELECT ?s ?v { ?s :value ?v } ORDER BY ?v",
    "ORDER BY LIMIT": "SELECT ?s ?v { ?s :value ?v } ORDER BY DESC(?v) ?s LIMIT 5",
    "GRAPH": "SELECT ?s ?v { GRAPH :g1 { ?s :value ?v } }",
    "GRAPH ?g": "SELECT ?g ?a ?v { GRAPH ?g { ?a :p ?b } ?b :value ?v }",
    "path /": "SELECT ?a ?c { ?a :p/:q ?c }",
    "path ^": "SELECT ?a ?b { ?a ^:p ?b }",
    "path !": "SELECT ?a ?b { ?a !(:kind|:value|:p) ?b }",
    "path |": "SELECT ?a ?b { ?a :q|:r ?b }",
    "path ?": "SELECT ?a ?b { ?a :p? ?b . ?b :kind :Rare }",
    "path *": "SELECT ?b { :n1 :r* ?b }",
    "path +": "SELECT ?a ?b { ?a :r+ ?b . ?a :kind :Rare }",
    "MINUS": "SELECT ?a ?b { ?a :p ?b MINUS { ?a :q ?c } }",
    "OPTIONAL with FILTER": (
        "SELECT ?a ?b ?v { ?a :p ?b OPTIONAL { ?b :value ?v FILTER(?v > 50) } }"
    ),
    "EXISTS": "SELECT ?a ?b { ?a :p ?b FILTER EXISTS { ?b :q ?c } }",
    "NOT EXISTS": "SELECT ?a ?b { ?a :p ?b FILTER NOT EXISTS { ?b :q ?c } }",
    "EXISTS in an expression": (
        "SELECT ?a ?e { ?a :kind ?k BIND(IF(EXISTS { ?a :p ?b }, 1, 0) AS ?e) }"
    ),
}
"""Name to query, without its prefix."""


def query(name: str) -> str:
    """The query of a shape."""
    return _PREFIX + SHAPES[name]


class Data:
    """A graph of `nodes` nodes, three quads a node, and updates that keep it at that size.

    Two updates in three are of a few nodes only, which so come to know each other well.
    """

    def __init__(self, nodes: int, seed: str) -> None:
        self._random = Random(seed)  # noqa: S311 - the same data for everybody
        self._nodes = self._all = nodes
        self.quads = dict.fromkeys(self._some(3 * nodes))

    def update(self) -> str:
        """One update: quads out, quads in, or the value of a node set anew."""
        self._nodes = self._random.choice((_FEW, _FEW, self._all))
        kind = self._random.choice(("in", "out", "both", "value"))
        out = self._present() if kind in {"out", "both"} else []
        in_ = self._some(self._random.randint(1, 6)) if kind in {"in", "both"} else []
        if kind == "value":
            return self._set_value()
        for quad in out:
            del self.quads[quad]
        self.quads.update(dict.fromkeys(in_))
        parts = [f"DELETE DATA {{ {_text(out)} }}"] * bool(out)
        return " ;\n".join([*parts, *[f"INSERT DATA {{ {_text(in_)} }}"] * bool(in_)])

    def _set_value(self) -> str:
        """DELETE/INSERT WHERE; where the node has several values they become one."""
        node, predicate = self._node(), NamedNode(NS + "value")
        new = Quad(node, predicate, self._value())
        old = [
            q
            for q in self.quads
            if (q.subject, q.predicate) == (node, predicate) and q.graph_name == new.graph_name
        ]
        for quad in old:
            del self.quads[quad]
        if old:
            self.quads[new] = None
        return (
            f"DELETE {{ {node} {predicate} ?old }} INSERT {{ {node} {predicate} {new.object} }} "
            f"WHERE {{ {node} {predicate} ?old }}"
        )

    def _present(self) -> Sequence[Quad]:
        """A few of the quads, none twice."""
        few = {NamedNode(f"{NS}n{number}") for number in range(self._nodes)}
        found = [quad for quad in self.quads if quad.subject in few]
        return self._random.sample(found, min(self._random.randint(1, 3), len(found)))

    def _some(self, count: int) -> list[Quad]:
        return list(dict.fromkeys(self._quad() for _ in range(count)))

    def _quad(self) -> Quad:
        """Half of them links, the others values and kinds; two in five in a named graph."""
        predicate = self._random.choice(("p", "p", "q", "q", "r", "r", "value", "value", "kind"))
        if predicate == "value":
            object_: NamedNode | Literal = self._value()
        elif predicate == "kind":
            object_ = NamedNode(NS + self._random.choice(("Common", "Plain", "Plain", "Rare")))
        else:
            object_ = self._node()
        graph = self._random.choice(_GRAPHS)
        node = self._node()
        if graph is None:
            return Quad(node, NamedNode(NS + predicate), object_)
        return Quad(node, NamedNode(NS + predicate), object_, NamedNode(NS + graph))

    def _node(self) -> NamedNode:
        return NamedNode(f"{NS}n{self._random.randrange(self._nodes)}")

    def _value(self) -> Literal:
        beyond = 50 if self._nodes == _FEW else 0
        number = self._random.randrange(-beyond, 100 + beyond)
        return Literal(f"{number}", datatype=NamedNode(XSD + "integer"))


def _text(quads: Sequence[Quad]) -> str:
    return " ".join(_quad_texts(quads))


def _quad_texts(quads: Sequence[Quad]) -> Iterator[str]:
    for quad in quads:
        triple = f"{quad.subject} {quad.predicate} {quad.object} ."
        named = isinstance(quad.graph_name, NamedNode)
        yield f"GRAPH {quad.graph_name} {{ {triple} }}" if named else triple
