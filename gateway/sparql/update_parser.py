"""Updates: the operations of a request with their templates, divided by semicolons.

Place: top layer of the parser. Source: SPARQL 1.1 Update, section 3, grammar rules [29] to [52]
and notes 5 to 9 of SPARQL 1.1 Query Language, section 19.8.
"""

from collections.abc import Callable, Iterable
from typing import ClassVar, NamedTuple, cast

from pyoxigraph import Literal, NamedNode, Variable

from gateway.sparql import algebra
from gateway.sparql.algebra import (
    BasicPattern,
    Element,
    Graph,
    GraphSet,
    GraphTarget,
    Group,
    QuadPattern,
    TriplePattern,
    Update,
    UpdateOperation,
    VarOrIri,
    is_hidden,
)
from gateway.sparql.cursor import END
from gateway.sparql.parameters import Parameters
from gateway.sparql.query_parser import QUERY_FORMS, QueryParser
from gateway.sparql.scope import walk
from gateway.sparql.triples_parser import TRIPLES_STARTS, Blanks


class _Block(NamedTuple):
    """Triples of one graph between the braces of a template; `start` and `end` their span."""

    graph: VarOrIri | None
    triples: tuple[TriplePattern, ...]
    start: int
    end: int


class UpdateParser(QueryParser):
    """Reads a request; labels of INSERT DATA and of WHERE belong to one operation each."""

    def __init__(self, text: str, base: str = "", parameters: Parameters | None = None) -> None:
        super().__init__(text, base, parameters)
        self._data_labels: set[str] = set()

    def update(self) -> Update:
        """A whole text: operations, possibly none; a last semicolon may follow."""
        operations: list[UpdateOperation] = []
        self.prologue()
        while (parse := self._OPERATIONS.get(self.key)) is not None:
            self.count_anew()
            operations.append(parse(self))
            if not self.accept(";"):
                break
            self.prologue()
        if not operations and self.key in QUERY_FORMS:
            self.fail("an operation: this is a QUERY, for /query or `sosa-gateway query`")
        if self.key is not END:
            self.fail("; or an operation")
        return Update(tuple(operations))

    def _insert(self) -> UpdateOperation:
        if self.next_key() != "DATA":
            return self._modify()
        self.advance()
        return algebra.InsertData(self._data(Blanks.FRESH))

    def _delete(self) -> UpdateOperation:
        match self.next_key():
            case "DATA":
                self.advance()
                return algebra.DeleteData(self._data(Blanks.REFUSED))
            case "WHERE":
                self.advance()
                return self._delete_where()
            case _:
                return self._modify()

    def _data(self, blanks: Blanks) -> tuple[QuadPattern, ...]:
        start = self.advance().start
        with self.blank_nodes(blanks, self._data_labels):
            blocks, _ = self._blocks()
        quads = _quads(blocks)
        variables = (node for node in walk(quads) if isinstance(node, Variable))
        variable = next((node for node in variables if not is_hidden(node)), None)
        if variable is not None:
            raise self.error(f"{variable} is a variable: DATA has none", start)
        literal = next((quad for quad in quads if isinstance(quad.subject, Literal)), None)
        if literal is not None:
            raise self.error(f"the literal {literal.subject} cannot be a subject", start)
        return quads

    def _delete_where(self) -> algebra.Modify:
        self.advance()
        with self.blank_nodes(Blanks.REFUSED, set()):
            blocks, (start, end) = self._blocks()
        where = Group(tuple(_element(block) for block in blocks), start, end)
        for block in blocks:
            self.count_triples(block.triples)
        return algebra.Modify(
            _quads(blocks), (), where, prefixes=self._prefixes(), base=self.base or None
        )

    def _modify(self) -> algebra.Modify:
        with_graph = self.iri() if self.accept("WITH") else None
        if self.key not in {"DELETE", "INSERT"}:
            self.fail("DELETE or INSERT")
        delete = self._template(Blanks.REFUSED) if self.accept("DELETE") else ()
        insert = self._template(Blanks.FRESH) if self.accept("INSERT") else ()
        self._count_columns((*delete, *insert))
        using = self.dataset_after("USING")
        if self.key != "WHERE":
            self.fail("WHERE")
        prefixes = self._prefixes()
        where = self._where()
        return algebra.Modify(delete, insert, where, with_graph, using, prefixes, self.base or None)

    def _count_columns(self, template: Iterable[QuadPattern]) -> None:
        """The variables of templates are columns of the WHERE's solutions."""
        nodes = (node for q in template for node in (q.subject, q.predicate, q.object, q.graph))
        columns = {node for node in nodes if isinstance(node, Variable) and not is_hidden(node)}
        self.count_elements(len(columns))

    def _prefixes(self) -> tuple[tuple[str, str], ...]:
        return tuple(self.prefixes.items())

    def _template(self, blanks: Blanks) -> tuple[QuadPattern, ...]:
        with self.blank_nodes(blanks, set()):
            blocks, _ = self._blocks()
        return _quads(blocks)

    def _blocks(self) -> tuple[list[_Block], tuple[int, int]]:
        """`{ triples GRAPH name { triples } ... }` and its span."""
        start = self.expect("{").start
        blocks = self._default_block()
        while self.key == "GRAPH":
            blocks.append(self._graph_block())
            self.accept(".")
            blocks += self._default_block()
        return blocks, (start, self.expect("}").end)

    def _default_block(self) -> list[_Block]:
        if self.key not in TRIPLES_STARTS:
            return []
        return [_Block(None, self.template(), 0, 0)]

    def _graph_block(self) -> _Block:
        self.advance()
        graph = self.variable_or_iri()
        start = self.expect("{").start
        triples = self.template()
        return _Block(graph, triples, start, self.expect("}").end)

    def _load(self) -> algebra.Load:
        self.advance()
        silent = self.accept("SILENT")
        source = self.iri()
        into = None
        if self.accept("INTO"):
            self.expect("GRAPH")
            into = self.iri()
        return algebra.Load(source, into, silent)

    def _clear(self) -> algebra.Clear:
        return algebra.Clear(*self._target())

    def _drop(self) -> algebra.Drop:
        return algebra.Drop(*self._target())

    def _target(self) -> tuple[GraphTarget, bool]:
        self.advance()
        silent = self.accept("SILENT")
        if self.key in GraphSet.__members__:
            return GraphSet[self.advance().text.upper()], silent
        self.expect("GRAPH", "GRAPH, DEFAULT, NAMED or ALL")
        return self.iri(), silent

    def _create(self) -> algebra.Create:
        self.advance()
        silent = self.accept("SILENT")
        self.expect("GRAPH")
        return algebra.Create(self.iri(), silent)

    def _copy(self) -> algebra.Copy:
        return algebra.Copy(*self._transfer())

    def _move(self) -> algebra.Move:
        return algebra.Move(*self._transfer())

    def _add(self) -> algebra.Add:
        return algebra.Add(*self._transfer())

    def _transfer(self) -> tuple[NamedNode | None, NamedNode | None, bool]:
        self.advance()
        silent = self.accept("SILENT")
        source = self._graph_or_default()
        self.expect("TO")
        return source, self._graph_or_default(), silent

    def _graph_or_default(self) -> NamedNode | None:
        if self.accept("DEFAULT"):
            return None
        self.accept("GRAPH")
        return self.iri()

    _OPERATIONS: ClassVar[dict[str, Callable[["UpdateParser"], UpdateOperation]]] = {
        "INSERT": _insert,
        "DELETE": _delete,
        "WITH": _modify,
        "LOAD": _load,
        "CLEAR": _clear,
        "DROP": _drop,
        "CREATE": _create,
        "COPY": _copy,
        "MOVE": _move,
        "ADD": _add,
    }


def _quads(blocks: Iterable[_Block]) -> tuple[QuadPattern, ...]:
    # A template is read without paths, so a predicate is a variable or an IRI.
    return tuple(
        QuadPattern(triple.subject, cast("VarOrIri", triple.predicate), triple.object, block.graph)
        for block in blocks
        for triple in block.triples
    )


def _element(block: _Block) -> Element:
    """A block as the group graph pattern that it also is."""
    pattern = BasicPattern(block.triples)
    if block.graph is None:
        return pattern
    elements = (pattern,) if block.triples else ()
    return Graph(block.graph, Group(elements, block.start, block.end))
