"""A Delta as one transaction of Oxigraph, and whether the store has one that seemed to fail.

Place: between `QuadStore`, which shows the change when it is made, and pyoxigraph.
"""

from pyoxigraph import DefaultGraph, Store

from gateway.rdf.delta import Delta
from gateway.store.delta_text import Functions, delta_text, is_named


def commit(store: Store, delta: Delta, *, is_alone: bool) -> None:
    """Write one transaction; quad by quad, which is faster, where no other reader can tell.

    Raises OSError or RuntimeError.
    """
    if delta.graphs_created or delta.graphs_dropped or (delta.removed and not is_alone):
        text, functions = update_text(store, delta)
        store.update(text, custom_functions=functions)
        return
    remove = store.remove
    for quad in delta.removed:
        remove(quad)
    store.extend(delta.added)


def update_text(store: Store, delta: Delta) -> tuple[str, Functions]:
    """SPARQL Update text that makes this change there, with the functions that it calls.

    Linear in the change, but where a graph named by a blank node is dropped: no text can say
    that, so then all named graphs are dropped and what stays of them is put back.
    """
    if all(is_named(graph) for graph in delta.graphs_dropped):
        return delta_text(delta)
    text, functions = delta_text(_once_named_are_dropped(store, delta))
    return f"DROP NAMED ;\n{text}" if text else "DROP NAMED", functions


def _once_named_are_dropped(store: Store, delta: Delta) -> Delta:
    removed, dropped = set(delta.removed), set(delta.graphs_dropped)
    kept = tuple(
        quad
        for quad in store
        if not isinstance(quad.graph_name, DefaultGraph) and quad not in removed
    )
    in_default = (q for q in delta.removed if isinstance(q.graph_name, DefaultGraph))
    graphs = tuple(graph for graph in store.named_graphs() if graph not in dropped)
    return Delta(kept + delta.added, tuple(in_default), graphs + delta.graphs_created)


def take_back(store: Store, delta: Delta) -> None:
    """Undo a change that was not to be made, as far as the store has it. Raises as `commit`."""
    undone = Delta(
        tuple(quad for quad in delta.removed if quad not in store),
        tuple(quad for quad in delta.added if quad in store),
        tuple(each for each in delta.graphs_dropped if not store.contains_named_graph(each)),
        tuple(each for each in delta.graphs_created if store.contains_named_graph(each)),
    )
    if not undone.is_empty:
        commit(store, undone, is_alone=False)
