"""A Delta as SPARQL Update text, which the store executes as one transaction.

DELETE DATA refuses blank nodes and INSERT DATA renames them, so quads with blank nodes are handed
over as values of a function, which keeps the store's identity of the node.
"""

from collections.abc import Callable, Iterable, Sequence

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, Triple

from gateway.rdf.delta import Delta
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName, Term

Functions = dict[NamedNode, Callable[..., Term | None]]

_TERM_OF = NamedNode("https://sosa-gateway.example/ns#internal-term")


def delta_text(delta: Delta) -> tuple[str, Functions]:
    """The text of a change that drops no graph named by a blank node, and its functions."""
    plain_removed, special_removed = _by_text(delta.removed)
    plain_added, special_added = _by_text(delta.added)
    holders = [_holder(graph) for graph in delta.graphs_created if not is_named(graph)]
    operations = [f"DROP SILENT GRAPH {graph}" for graph in delta.graphs_dropped]
    if plain_removed:
        operations.append(f"DELETE DATA {{ {' '.join(plain_removed)} }}")
    if special_removed:
        operations.append(_function_text("DELETE", special_removed, 0))
    operations += [
        f"CREATE SILENT GRAPH {graph}" for graph in delta.graphs_created if is_named(graph)
    ]
    if holders:
        operations += [
            _function_text(verb, holders, len(special_removed)) for verb in ("INSERT", "DELETE")
        ]
    if plain_added:
        operations.append(f"INSERT DATA {{ {' '.join(plain_added)} }}")
    if special_added:
        first = len(special_removed) + len(holders)
        operations.append(_function_text("INSERT", special_added, first))
    functions: Functions = {}
    if special := special_removed + holders + special_added:
        terms = [_positions(quad) for quad in special]
        functions[_TERM_OF] = lambda row, column: terms[int(row.value)][int(column.value)]
    return " ;\n".join(operations), functions


def _holder(graph: NamedNode | BlankNode) -> Quad:
    """A quad that, put in and taken out again, creates a graph that CREATE cannot name."""
    return Quad(_TERM_OF, _TERM_OF, _TERM_OF, graph)


def is_named(graph: NamedNode | BlankNode) -> bool:
    """Whether text can name the graph."""
    return isinstance(graph, NamedNode)


def _has_blank(term: Term | GraphName) -> bool:
    if isinstance(term, Triple):
        return _has_blank(term.subject) or _has_blank(term.object)
    return isinstance(term, BlankNode)


def _by_text(quads: Iterable[Quad]) -> tuple[list[str], list[Quad]]:
    """Quads that SPARQL text can say, as text, and those with blank nodes."""
    plain: list[str] = []
    special: list[Quad] = []
    for quad in quads:
        graph = quad.graph_name
        text = str(quad)
        if "_:" in text and (
            _has_blank(quad.subject) or _has_blank(quad.object) or _has_blank(graph)
        ):
            special.append(quad)
        elif graph == DEFAULT_GRAPH:
            plain.append(f"{text} .")
        else:
            plain.append(f"GRAPH {graph} {{ {quad.triple} }}")
    return plain, special


def _positions(quad: Quad) -> tuple[Term, ...]:
    """The terms by column; the default graph has none, and is never asked for."""
    graph = quad.graph_name
    terms = (quad.subject, quad.predicate, quad.object)
    return terms if isinstance(graph, DefaultGraph) else (*terms, graph)


def _function_text(verb: str, quads: Sequence[Quad], first: int) -> str:
    """One operation over rows `first`...: in a named graph and in the default graph apart."""
    operations = []
    for named in (False, True):
        rows = [
            str(first + index)
            for index, quad in enumerate(quads)
            if isinstance(quad.graph_name, DefaultGraph) is not named
        ]
        if rows:
            template = "GRAPH ?g { ?s ?p ?o }" if named else "?s ?p ?o"
            variables = "spog" if named else "spo"
            binds = " ".join(
                f"BIND({_TERM_OF}(?row, {column}) AS ?{name})"
                for column, name in enumerate(variables)
            )
            operations.append(
                f"{verb} {{ {template} }} WHERE {{ VALUES ?row {{ {' '.join(rows)} }} {binds} }}"
            )
    return " ;\n".join(operations)
