"""Queries: the four forms with their clauses, and the rules that hold between the clauses.

Place: layer of the parser above groups. Source: SPARQL 1.1 Query Language, sections 11, 13, 15
and 16, grammar rules [1] to [30] and the notes of section 19.8.
"""

from collections.abc import Callable
from dataclasses import replace

from pyoxigraph import NamedNode

from gateway.rdf.dataset import Dataset
from gateway.sparql.algebra import (
    BasicPattern,
    Expression,
    Group,
    GroupKey,
    OrderKey,
    Projection,
    Query,
    QueryForm,
    TriplePattern,
    Values,
    VarOrIri,
)
from gateway.sparql.cursor import END
from gateway.sparql.expression_parser import CONSTRAINT_STARTS
from gateway.sparql.group_parser import GroupParser
from gateway.sparql.scope import hide_blanks, wrong_columns
from gateway.sparql.triples_parser import Blanks

ORDER_KEYS = 6
"""Elements that a key of ORDER BY counts: it becomes several before the store sorts by it."""

QUERY_FORMS = frozenset({"SELECT", "CONSTRUCT", "ASK", "DESCRIBE"})

_Columns = tuple[Projection, ...] | None

_GROUP_KEY_STARTS = CONSTRAINT_STARTS | {"var"}
_ORDER_KEY_STARTS = _GROUP_KEY_STARTS | {"ASC", "DESC"}


class QueryParser(GroupParser):
    """Reads a query, and the sub-queries in it."""

    def query(self) -> Query:
        """A whole text."""
        self.prologue()
        match self.key:
            case "SELECT":
                query = self._select(self._dataset)
            case "CONSTRUCT":
                query = self._construct()
            case "ASK":
                self.advance()
                query = self._body(QueryForm.ASK, self._dataset, self._where)
            case "DESCRIBE":
                query = self._describe()
            case "INSERT" | "DELETE" | "WITH" | "LOAD" | "CLEAR" | "DROP" | "CREATE":
                self.fail("a QUERY: this is an UPDATE, for /update or `sosa-gateway update`")
            case _:
                self.fail("SELECT, CONSTRUCT, ASK or DESCRIBE")
        if self.key is not END:
            self.fail("the end of the query")
        return query

    def sub_select(self) -> Query:
        """A SELECT within a group: without dataset clauses."""
        return self._select(_no_dataset)

    def _select(self, dataset: Callable[[], Dataset | None]) -> Query:
        outer_count, self._aggregate_count = self._aggregate_count, 0
        start = self.advance().start
        distinct = self.accept("DISTINCT")
        reduced = not distinct and self.accept("REDUCED")
        query = self._body(QueryForm.SELECT, dataset, self._where, self._projection())
        if distinct or reduced:
            query = replace(query, distinct=distinct, reduced=reduced)
        reason = wrong_columns(query, self._aggregate_count > 0)
        if reason:
            raise self.error(reason, start)
        self._aggregate_count = outer_count
        return query

    def _projection(self) -> _Columns:
        if self.accept("*"):
            return None
        columns: list[Projection] = []
        while self.key in {"var", "("}:
            columns.append(self._column())
        if not columns:
            self.fail("a variable, ( or *")
        return tuple(columns)

    def _column(self) -> Projection:
        self.count_element()
        if self.key == "var":
            return Projection(self.variable())
        self.advance()
        expression, variable = self._named(self.aggregating(self.expression))
        return Projection(variable, expression)

    def _construct(self) -> Query:
        self.advance()
        if self.key != "{":
            return self._short_construct()
        self.advance()
        with self.blank_nodes(Blanks.FRESH, set()):
            template = self.template()
        self.expect("}")
        query = self._body(QueryForm.CONSTRUCT, self._dataset, self._where)
        return replace(query, template=template)

    def _short_construct(self) -> Query:
        """`CONSTRUCT WHERE { triples }`: the triples are template and pattern."""
        template: tuple[TriplePattern, ...] = ()

        def where() -> Group:
            nonlocal template
            self.expect("WHERE")
            start = self.expect("{").start
            with self.blank_nodes(Blanks.FRESH, set()):
                template = self.template()
            elements = (BasicPattern(hide_blanks(template)),) if template else ()
            self.count_triples(template)
            return Group(elements, start, self.expect("}").end)

        query = self._body(QueryForm.CONSTRUCT, self._dataset, where)
        return replace(query, template=template)

    def _describe(self) -> Query:
        self.advance()
        targets: list[VarOrIri] = []
        every = self.accept("*")
        while not every and self.key in {"var", "iriref", "pname"}:
            self.count_element()
            targets.append(self.variable_or_iri())
        if not (every or targets):
            self.fail("a variable, an IRI or *")
        query = self._body(QueryForm.DESCRIBE, self._dataset, self._optional_where)
        return replace(query, describe=None if every else tuple(targets))

    def _body(
        self,
        form: QueryForm,
        dataset: Callable[[], Dataset | None],
        where: Callable[[], Group],
        projection: _Columns = None,
    ) -> Query:
        """The clauses that all forms share, in the order of the grammar."""
        graphs = dataset()
        group = where()
        group_by, having, order_by = self._group_by(), self._having(), self._order_by()
        limit, offset = self._slice()
        query = Query(
            form=form,
            where=group,
            projection=projection,
            dataset=graphs,
            group_by=group_by,
            having=having,
            order_by=order_by,
            limit=limit,
            offset=offset,
            values=self._trailing_values(),
            prefixes=tuple(self.prefixes.items()),
            base=self.base or None,
        )
        if limit is not None or offset is not None:
            self.count_elements(ORDER_KEYS * len(query.projected))  # `tie_break`
        return query

    def _dataset(self) -> Dataset | None:
        return self.dataset_after("FROM")

    def dataset_after(self, keyword: str) -> Dataset | None:
        """What FROM or USING clauses choose."""
        default: list[NamedNode] = []
        named: list[NamedNode] = []
        while self.accept(keyword):
            graphs = named if self.accept("NAMED") else default
            graphs.append(self.iri())
        return Dataset.chosen(default, named)

    def _where(self) -> Group:
        if not self.accept("WHERE") and self.key != "{":
            self.fail("WHERE or {")
        return self._nested_group()

    def _optional_where(self) -> Group:
        if self.key in {"WHERE", "{"}:
            return self._where()
        return Group((), len(self.text), len(self.text))

    def _group_by(self) -> tuple[GroupKey, ...]:
        if not self.accept("GROUP"):
            return ()
        self.expect("BY")
        keys = [self._group_key()]
        while self.key in _GROUP_KEY_STARTS:
            keys.append(self._group_key())
        return tuple(keys)

    def _group_key(self) -> GroupKey:
        self.count_element()
        if self.key == "var":
            return GroupKey(self.variable())
        if self.key != "(":
            return GroupKey(self.constraint())
        self.advance()
        expression = self.expression()
        if self.accept(")"):
            return GroupKey(expression)
        return GroupKey(*self._named(expression))

    def _having(self) -> tuple[Expression, ...]:
        if not self.accept("HAVING"):
            return ()
        conditions = [self._condition()]
        while self.key in CONSTRAINT_STARTS:
            conditions.append(self._condition())
        return tuple(conditions)

    def _condition(self) -> Expression:
        self.count_element()
        return self.aggregating(self.constraint)

    def _order_by(self) -> tuple[OrderKey, ...]:
        if not self.accept("ORDER"):
            return ()
        self.expect("BY")
        keys = [self._order_key()]
        while self.key in _ORDER_KEY_STARTS:
            keys.append(self._order_key())
        return tuple(keys)

    def _order_key(self) -> OrderKey:
        start = self.token.start
        self.count_elements(ORDER_KEYS)
        if self.key == "var":
            return OrderKey(self.variable(), start=start, end=self.last_end)
        descending = False
        if self.key in {"ASC", "DESC"}:
            descending = self.advance().text.upper() == "DESC"
            if self.key != "(":
                self.fail("(")
        expression = self.aggregating(self.constraint)
        return OrderKey(expression, descending, start, self.last_end)

    def _slice(self) -> tuple[int | None, int | None]:
        """LIMIT and OFFSET, in either order."""
        found: dict[str, int] = {}
        while self.key in {"LIMIT", "OFFSET"} and self.key not in found:
            key = self.advance().text.upper()
            found[key] = int(self.expect("integer").text)
        return found.get("LIMIT"), found.get("OFFSET")

    def _trailing_values(self) -> Values | None:
        return self.data_block() if self.accept("VALUES") else None


def _no_dataset() -> Dataset | None:
    return None
