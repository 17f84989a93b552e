"""Writes random conjunctive queries and triples over so few terms that they meet.

IRIs stand anywhere in a triple, so that variables may be shared by any two places.
"""

from random import Random

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from gateway.rdf.canonical import canonical
from gateway.rdf.namespaces import XSD
from tests.gateway.engine.odd_literals import ODD_LITERALS, ODD_TEXTS

IRIS = ("<urn:a>", "<urn:b>", "<urn:p>", "<urn:q>")
PREDICATES = ("<urn:p>", "<urn:q>")
VARIABLES = ("?x", "?y", "?z", "?u")
LITERALS = ("1", "01", "2.50", "true", "'v'", "'v'@en", f"'2020-01-01T00:00:00Z'^^<{XSD}dateTime>")

_NODES: tuple[NamedNode | BlankNode, ...] = (
    *(NamedNode(iri[1:-1]) for iri in IRIS),
    BlankNode("m"),
)
_LITERAL_TERMS: tuple[Literal, ...] = (
    Literal(1),
    Literal("2.5", datatype=NamedNode(XSD + "decimal")),
    Literal("1", datatype=NamedNode(XSD + "boolean")),
    Literal("v"),
    Literal("v", language="en"),
    Literal("2020-01-01T00:00:00Z", datatype=NamedNode(XSD + "dateTime")),
    *ODD_LITERALS,
)
_EDGES = tuple(NamedNode(iri[1:-1]) for iri in (*PREDICATES, *PREDICATES, "<urn:a>"))
COMMON = tuple(
    Triple(subject, predicate, object_)
    for subject in _NODES
    for predicate in _EDGES[1:]
    for object_ in (*_NODES, Literal(1))
)
"""Dense: most patterns match some of them."""
ODD = tuple(
    Triple(subject, predicate, canonical(literal))
    for subject in _NODES[:3]
    for predicate in _EDGES[:2]
    for literal in _LITERAL_TERMS
)


class Writer:
    """Queries over `<urn:w>`, and triples."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def pick(self, *choices: str) -> str:
        return self._random.choice(choices)

    def chance(self, of: int) -> bool:
        return self._random.randint(1, of) == of

    def triple(self) -> Triple:
        """One of few, so that it comes again."""
        return self._random.choice(ODD if self.chance(4) else COMMON)

    def node(self) -> str:
        return self.pick(*IRIS, self.pick(*LITERALS, *ODD_TEXTS))

    def pattern(self) -> str:
        subject = self.pick(*VARIABLES, *VARIABLES, *IRIS, "[]", "_:k")
        predicate = self.pick(*PREDICATES, *PREDICATES, *PREDICATES, *VARIABLES, "<urn:never>")
        object_ = self.pick(*VARIABLES, *VARIABLES, self.node(), "[]", "_:k")
        if self.chance(8):
            predicate = f"{self.pick('^', '')}<urn:p>/{self.pick('^', '')}<urn:q>"
        return f"{subject} {predicate} {object_} ."

    def test(self) -> str:
        variable, other = self.pick(*VARIABLES), self.pick(*VARIABLES, *VARIABLES, "?nowhere")
        return self.pick(
            f"{variable} = {self.pick(*VARIABLES, *IRIS, *LITERALS)}",
            f"{variable} = {self.pick(*IRIS)}",
            f"{variable} != {self.pick(*VARIABLES, *IRIS, *LITERALS)}",
            f"{variable} > 1",
            f"!({variable} > 1)",
            f"{variable} < {other}",
            f"{variable} {self.pick('=', '!=', '<', '>=')} {self.pick(*ODD_TEXTS)}",
            other,
            f"!{other}",
            f"BOUND({other})",
            f"{variable} > 1 || BOUND({other})",
            f"{variable} = {self.pick(*IRIS)} && {other} != {self.pick(*IRIS, *LITERALS)}",
            f"isBlank({variable})",
            f"STRENDS(STR({variable}), 'a')",
            f"sameTerm({variable}, {other})",
            f"{variable} IN ({self.pick(*IRIS)}, 1, {other})",
            f"IRI('a') = {variable}",
            f"{variable} + {other} > 1",
            "true",
            "1 / 0 > 1",
        )

    def _elements(self, most: int) -> str:
        patterns = [self.pattern() for _ in range(self._random.choice((1, 1, 2, 2, 2, 3, 3, most)))]
        tests = [f"FILTER({self.test()})" for _ in range(self._random.choice((0, 0, 0, 1, 2)))]
        elements = [*patterns, *tests]
        self._random.shuffle(elements)
        return " ".join(elements)

    def query(self, most: int = 4) -> str:
        """A text; it may be one that the automaton does not take."""
        base = self.pick("", "", "BASE <urn:> ")
        body = f"{{ {self._elements(most)} }}"
        if self.chance(6):
            inner = self._elements(2).replace("_:k", "_:l")
            body = f"{{ {self._elements(2)} {{ {inner} }} }}"
        source = ""
        if self.chance(2):
            source = "FROM <urn:w> "
        else:
            body = f"{{ GRAPH <urn:w> {body} }}"
            if self.chance(5):
                source = "FROM NAMED <urn:w> "
        columns = self.pick("*", "*", "?x", "?x ?y", "?y ?z ?x", "?z ?nowhere", "?u")
        template = self.pick(
            "?x <urn:made> ?y", "?x ?y ?z", "?x <urn:p> ?y . ?y ?z <urn:a>", "<urn:a> ?x 01"
        )
        head = self.pick(
            *[f"SELECT {columns}"] * 4, f"SELECT DISTINCT {columns}", "ASK", "CONSTRUCT"
        )
        if head == "CONSTRUCT":
            head = f"CONSTRUCT {{ {template} }}"
        return f"{base}{head} {source}WHERE {body}"
