"""Triples: property lists, collections and blank nodes, expanded into triple patterns.

Place: layer of the parser above paths. Source: SPARQL 1.1 Query Language, sections 4.2 and 5.1.1
and grammar rules [75] to [111].

In a WHERE a blank node is a hidden variable, and a label belongs to one basic graph pattern. In a
template it is a blank node; labels are renamed b0, b1 ..., so that `[]` clashes with none.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

from pyoxigraph import BlankNode, NamedNode, Variable

from gateway.errors import SparqlSyntaxError
from gateway.rdf.namespaces import RDF
from gateway.sparql.algebra import HIDDEN_PREFIX, PatternTerm, TriplePattern
from gateway.sparql.parameters import Parameters
from gateway.sparql.path_parser import PATH_STARTS, VERB_STARTS, PathParser
from gateway.sparql.paths import Path
from gateway.sparql.term_parser import LITERAL_STARTS
from jsap.lexer import Token

_FIRST = NamedNode(RDF + "first")
_REST = NamedNode(RDF + "rest")
_NIL = NamedNode(RDF + "nil")

TRIPLES_STARTS = LITERAL_STARTS | {"var", "iriref", "pname", "bnode", "(", "["}


class Blanks(Enum):
    """What a blank node in the triples being read is."""

    HIDDEN = "a hidden variable"
    FRESH = "a fresh node for each solution"
    REFUSED = "not allowed"


class TriplesParser(PathParser):
    """Reads blocks of triples; the state is what the blank nodes of the text mean."""

    def __init__(self, text: str, base: str = "", parameters: Parameters | None = None) -> None:
        super().__init__(text, base, parameters)
        self._blanks = Blanks.HIDDEN
        self._labels: dict[str, PatternTerm] = {}
        self._outer_labels: list[dict[str, PatternTerm]] = []
        self._closed_labels: set[str] = set()
        self._fresh_count = 0
        self._triples: list[TriplePattern] = []

    def triples_block(self) -> tuple[TriplePattern, ...]:
        """Triples divided by dots, at least one; a last dot may follow."""
        self._triples = []
        self._same_subject()
        while self.accept(".") and self.key in TRIPLES_STARTS:
            self._same_subject()
        return tuple(self._triples)

    def template(self) -> tuple[TriplePattern, ...]:
        """A block without paths, possibly empty, within `blank_nodes`."""
        return self.triples_block() if self.key in TRIPLES_STARTS else ()

    @contextmanager
    def blank_nodes(self, meaning: Blanks, taken: set[str]) -> Iterator[None]:
        """Read templates, where labels are their own; those used join the ones `taken`."""
        outer = self._blanks, self._labels, self._closed_labels
        self._blanks, self._labels, self._closed_labels = meaning, {}, taken
        yield
        self.close_labels()
        self._blanks, self._labels, self._closed_labels = outer

    def close_labels(self) -> None:
        """End a basic graph pattern: its labels must not be used again."""
        if self._labels:
            self._closed_labels.update(self._labels)
            self._labels = {}

    def _same_subject(self) -> None:
        if self.key == "[" and self.next_key() != "]":
            subject, complete = self._property_list_node(), True
        elif self.key == "(" and self.next_key() != ")":
            subject, complete = self._collection(), True
        elif self.key in LITERAL_STARTS:  # no parameter: data must not have it
            subject, complete = self.literal(), False
        else:
            subject, complete = self._term(), False
        if not complete or self.key in self._verb_starts():
            self._property_list(subject)

    def _verb_starts(self) -> frozenset[str]:
        return PATH_STARTS if self._blanks is Blanks.HIDDEN else VERB_STARTS

    def _property_list(self, subject: PatternTerm) -> None:
        self._objects(subject)
        while self.accept(";"):
            if self.key in self._verb_starts():
                self._objects(subject)

    def _objects(self, subject: PatternTerm) -> None:
        verb = self.path_verb() if self._blanks is Blanks.HIDDEN else self.simple_verb()
        self._object(subject, verb)
        while self.accept(","):
            self._object(subject, verb)

    def _object(self, subject: PatternTerm, verb: Variable | NamedNode | Path) -> None:
        node = self._node()
        self._triples.append(TriplePattern(subject, verb, node))

    def _node(self) -> PatternTerm:
        if self.key == "[" and self.next_key() != "]":
            return self._property_list_node()
        if self.key == "(":
            return self._collection()
        return self._term()

    def _term(self) -> PatternTerm:
        key = self.key
        if key == "var":
            return self.variable()
        if key in {"pname", "iriref"}:
            return self.constant_iri()
        if key in LITERAL_STARTS:
            return self.constant_literal()
        if key == "bnode":
            return self._labelled(self.advance())
        if self.accept("["):
            node = self._fresh()
            self.expect("]")
            return node
        if self.accept("("):
            self.expect(")")
            return _NIL
        return self.fail("a term or a variable")

    def _property_list_node(self) -> PatternTerm:
        self.descend()
        node = self._fresh()
        self.advance()
        self._property_list(node)
        self.expect("]")
        self._depth -= 1
        return node

    def _collection(self) -> PatternTerm:
        self.expect("(")
        if self.accept(")"):
            return _NIL
        self.descend()
        head = cell = self._cell()
        while self.key != ")":
            cell = self._cell_after(cell)
        self._triples.append(TriplePattern(cell, _REST, _NIL))
        self.advance()
        self._depth -= 1
        return head

    def _cell(self) -> PatternTerm:
        """A fresh list cell whose first is the node here."""
        cell = self._fresh()
        self._triples.append(TriplePattern(cell, _FIRST, self._node()))
        return cell

    def _cell_after(self, cell: PatternTerm) -> PatternTerm:
        following = self._cell()
        self._triples.append(TriplePattern(cell, _REST, following))
        return following

    def _labelled(self, token: Token) -> PatternTerm:
        node = self._labels.get(token.text)
        if node is None:
            if self._is_taken(token.text):
                raise self._reused(token)
            node = self._labels[token.text] = self._fresh(token)
        return node

    def _is_taken(self, label: str) -> bool:
        return label in self._closed_labels or any(label in at for at in self._outer_labels)

    def _reused(self, token: Token) -> SparqlSyntaxError:
        return self.error(
            f"the blank node {token.text} is used in another graph pattern already", token.start
        )

    def _fresh(self, token: Token | None = None) -> PatternTerm:
        if self._blanks is Blanks.REFUSED:
            offset = self.token.start if token is None else token.start
            raise self.error("a blank node is not allowed here", offset)
        self._fresh_count += 1
        if self._blanks is Blanks.HIDDEN:
            return Variable(f"{HIDDEN_PREFIX}{self._fresh_count - 1}")
        return BlankNode(f"b{self._fresh_count - 1}")
