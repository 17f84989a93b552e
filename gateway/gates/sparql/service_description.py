"""The service description: what a GET of an endpoint without a query answers.

What a client may read before its first request. Source:
SPARQL 1.1 Service Description (W3C, 2013), sections 2 and 3. The Subscribe language is announced
as `sd:languageExtension`, with where to subscribe. Graphs are not listed: who may read which one
differs, and `SELECT DISTINCT ?g { GRAPH ?g {} }` tells each client its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

from pyoxigraph import BlankNode, NamedNode, Triple, serialize

from gateway.gates.http.rendering import Answer
from gateway.gates.protocol.media_types import GRAPHS, choose
from gateway.rdf.namespaces import GW, RDF
from gateway.rdf.terms import Term

SD = "http://www.w3.org/ns/sparql-service-description#"
_FORMATS = "http://www.w3.org/ns/formats/"
_TYPE = NamedNode(RDF + "type")

SUBSCRIBE_LANGUAGE = NamedNode(GW + "SPARQL11Subscribe")
"""SPARQL 1.1 Subscribe: a query whose answer is told again whenever it changes."""

_RESULT_FORMATS = (
    "SPARQL_Results_JSON",
    "SPARQL_Results_XML",
    "SPARQL_Results_CSV",
    "SPARQL_Results_TSV",
    "Turtle",
    "N-Triples",
    "RDF_XML",
    "JSON-LD",
    "N-Quads",
    "TriG",
)
_INPUT_FORMATS = _RESULT_FORMATS[4:]


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where this client reaches the service: absolute IRIs."""

    sparql: str
    graph_store: str
    subscribe: str


@dataclass(frozen=True, slots=True)
class ServiceDescription:
    """What the service offers; `is_federated` where SERVICE and LOAD may reach other hosts."""

    is_federated: bool = False

    def answer(self, endpoints: Endpoints, accept: str) -> Answer:
        """In a media type that `accept` chooses, Turtle where it fits none."""
        media_type = choose(accept, GRAPHS) or next(iter(GRAPHS))
        prefixes = {"sd": SD, "gw": GW, "format": _FORMATS}
        body = BytesIO()
        serialize(self.triples(endpoints), body, GRAPHS[media_type], prefixes=prefixes)
        return Answer(media_type, body.getvalue())

    def triples(self, endpoints: Endpoints) -> Iterator[Triple]:
        """The description, of the service as a resource of its own."""
        service, dataset, graph = NamedNode(endpoints.sparql), BlankNode(), BlankNode()
        yield Triple(service, _TYPE, _sd("Service"))
        for name, term in self._properties(endpoints, dataset):
            yield Triple(service, name, term)
        yield Triple(dataset, _TYPE, _sd("Dataset"))
        yield Triple(dataset, _sd("defaultGraph"), graph)
        yield Triple(graph, _TYPE, _sd("Graph"))
        yield Triple(SUBSCRIBE_LANGUAGE, _TYPE, _sd("Feature"))

    def _properties(
        self, endpoints: Endpoints, dataset: BlankNode
    ) -> Iterator[tuple[NamedNode, Term]]:
        yield _sd("endpoint"), NamedNode(endpoints.sparql)
        yield _sd("supportedLanguage"), _sd("SPARQL11Query")
        yield _sd("supportedLanguage"), _sd("SPARQL11Update")
        yield _sd("languageExtension"), SUBSCRIBE_LANGUAGE
        yield NamedNode(GW + "subscribeEndpoint"), NamedNode(endpoints.subscribe)
        yield NamedNode(GW + "graphStoreEndpoint"), NamedNode(endpoints.graph_store)
        yield _sd("extensionFunction"), NamedNode(GW + "clock")
        yield _sd("feature"), _sd("EmptyGraphs")
        if self.is_federated:
            yield _sd("feature"), _sd("BasicFederatedQuery")
        yield _sd("defaultDataset"), dataset
        for name in _RESULT_FORMATS:
            yield _sd("resultFormat"), NamedNode(_FORMATS + name)
        for name in _INPUT_FORMATS:
            yield _sd("inputFormat"), NamedNode(_FORMATS + name)


def _sd(name: str) -> NamedNode:
    return NamedNode(SD + name)
