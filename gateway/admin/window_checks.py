"""What is wrong with the windows of a profile's queries, told before anybody subscribes.

Place: asked by `profile_checks`, which tells it with the other findings.
"""

from collections.abc import Iterator, Mapping

from pyoxigraph import NamedNode

from gateway.engine.windowed.over import OverWindows, over_of
from gateway.errors import SparqlSyntaxError, WindowError
from gateway.rdf.dataset import Dataset
from gateway.sparql.parser import parse_query
from gateway.sparql.patterns import graphs_looked_at
from jsap.template import Template


def window_defects(
    places: Mapping[str, str], queries: Mapping[str, Template]
) -> Iterator[tuple[str, WindowError | str]]:
    """Where, and what: an error for what cannot be, a text for what says nothing."""
    for key, template in queries.items():
        place = f"{places.get(f'queries.{key}', '')}: queries.{key}"
        try:
            over = over_of(template)
        except WindowError as error:
            yield place, error
            continue
        for iri in _unseen(template, over):
            yield (
                f"{place}.windows",
                f"the text looks at no graph <{iri}>, so the window says nothing; write GRAPH, or "
                "FROM, with its IRI",
            )


def _unseen(template: Template, over: OverWindows) -> Iterator[str]:
    """Windows that the text does not name; none where the graph may be a bound variable."""
    if not over.windows or template.forced_bindings:
        return
    try:
        graphs = template.graphs
        names = graphs.default_graph_uri, graphs.named_graph_uri
        dataset = Dataset.chosen(*(tuple(map(NamedNode, each)) for each in names))
        seen = graphs_looked_at(parse_query(template.text), dataset)
    except (SparqlSyntaxError, ValueError):
        return  # which is told elsewhere
    for iri, _ in over.windows:
        if seen is not None and NamedNode(iri) not in seen:
            yield iri
