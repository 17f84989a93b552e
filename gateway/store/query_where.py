"""`QueryWhere`: a WHERE that the store's own SPARQL evaluates, whatever it is.

Place: what `join_where` is not made for. While no earlier operation of the request changed
anything it is a SELECT on the store; after a change, the changes and the WHERE run in one
transaction that is rolled back, and a function in it writes the solutions down.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from pyoxigraph import BlankNode, Literal, NamedNode, QuerySolutions

from gateway.errors import UpdateFailedError
from gateway.rdf.canonical import canonical
from gateway.rdf.dataset import Dataset
from gateway.rdf.terms import Term
from gateway.sparql import algebra
from gateway.sparql.bounded import services
from gateway.sparql.order.total_order import with_total_order
from gateway.sparql.parameters import Parameters
from gateway.store.clock import with_clock
from gateway.store.templates import Bindings, Row
from gateway.store.working import Working
from jsap.lexer import splice, substitute, tokenize

_CAPTURE = NamedNode("https://sosa-gateway.example/ns#internal-capture")
_UNBOUND = NamedNode("https://sosa-gateway.example/ns#internal-unbound")


class QueryWhere:
    """A group as text; where it has parameters, there are variables with names of our own."""

    def __init__(
        self,
        text: str,
        modify: algebra.Modify,
        columns: Sequence[str],
        using: Dataset | None,
        parameters: Parameters,
    ) -> None:
        self._prologue = algebra.prologue_text(modify)
        self._fresh = _names(text)
        where, self._parameters = _with_variables(text, modify.where, parameters, self._fresh)
        self._where = with_clock(where)
        self._tokens = tokenize(self._where)
        self._columns = tuple(columns)
        self._using = using
        self._with = modify.with_graph
        self._services = services(modify.where)

    def rows(self, working: Working, bindings: Bindings) -> list[Row]:
        """Evaluate on the store alone, or within the changes made so far."""
        rendered = {
            self._parameters.get(name, name): _rendered(term) for name, term in bindings.items()
        }
        where = substitute(self._where, self._tokens, rendered) if rendered else self._where
        wanted = [name for name in self._columns if name not in bindings]
        working.remote.require(*self._services)
        evaluate = self._select if working.is_unchanged else self._capture
        try:
            found = [
                tuple(None if term is None else canonical(term) for term in row)
                for row in evaluate(working, where, wanted)
            ]
        except OSError as error:
            raise UpdateFailedError(
                f"a SERVICE of the WHERE: {error}", "try it again, or leave out the SERVICE"
            ) from error
        if len(wanted) == len(self._columns):
            return found
        place = {name: number for number, name in enumerate(wanted)}
        return [
            tuple(row[place[n]] if n in place else bindings[n] for n in self._columns)
            for row in found
        ]

    def _select(
        self, working: Working, where: str, wanted: Sequence[str]
    ) -> Iterable[tuple[Term | None, ...]]:
        projection = " ".join(f"?{name}" for name in wanted) or "(1 AS ?one)"
        results = working.store.query(
            f"{self._prologue}SELECT {projection} WHERE {where}", self._using, self._with
        )
        if not isinstance(results, QuerySolutions):
            raise UpdateFailedError("the WHERE of the update gave no solutions")
        return (tuple(row) if wanted else () for row in results)

    def _capture(
        self, working: Working, where: str, wanted: Sequence[str]
    ) -> Iterable[tuple[Term | None, ...]]:
        rows: list[tuple[Term | None, ...]] = []

        def write_down(*terms: Term) -> Term:
            rows.append(tuple(None if term == _UNBOUND else term for term in terms))
            return Literal("")

        selected = f"{self._prologue}SELECT * WHERE "
        where = with_total_order(selected + where)[len(selected) :]
        arguments = ", ".join(f"COALESCE(?{name}, {_UNBOUND})" for name in wanted)
        changes, functions = working.store.update_text(working.delta())
        with_graph = f"WITH {self._with} " if self._with is not None else ""
        first = f"{changes} ; " if changes else ""
        working.store.rehearse(
            # A prologue may stand at the beginning only: the store takes none after a `;`.
            f"{self._prologue} {first}{with_graph}INSERT {{}}{_using_text(self._using)} "
            f"WHERE {{ {where} BIND({_CAPTURE}({arguments}) AS ?{next(self._fresh)}) }}",
            {**functions, _CAPTURE: write_down},
        )
        return rows


def _using_text(dataset: Dataset | None) -> str:
    if dataset is None:
        return ""
    default = (f" USING {graph}" for graph in dataset.default_graphs)
    return "".join((*default, *(f" USING NAMED {graph}" for graph in dataset.named_graphs)))


def _with_variables(
    text: str, where: algebra.Group, parameters: Parameters, fresh: Iterator[str]
) -> tuple[str, dict[str, str]]:
    """The group with a variable in place of each parameter, and the variables by parameter."""
    names: dict[str, str] = {}
    edits: list[tuple[int, int, str]] = []
    for (start, end), prefix in sorted(parameters.found.items()):
        if where.start <= start < where.end:
            name = parameters.name((start, end))
            variable = names.setdefault(name, next(fresh))
            begin = start - len(prefix or "") - where.start
            edits.append((begin, end - where.start, f"?{variable}"))
    return splice(text[where.start : where.end], edits), names


def _names(text: str) -> Iterator[str]:
    """Names of variables that the text does not have."""
    return (name for name in (f"fresh{number}" for number in count()) if name not in text)


def _rendered(term: Term) -> str:
    if isinstance(term, BlankNode):
        raise UpdateFailedError(
            "a blank node cannot be bound in a WHERE", "name the node by an IRI"
        )
    return str(term)
