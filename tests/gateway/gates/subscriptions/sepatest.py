"""A profile like SEPA's test profile, in our words: what its own clients' tests go through.

One graph, `http://sepatest`. WRONG is no SPARQL and must fail, DELETE_ALL empties the graph, VAIMEE
replaces a literal beyond ASCII, RANDOM a bound one, HUGE writes a literal of 100,000 characters.
"""

from typing import Any

from tests.kit.gateways import LOOPBACK

GRAPH = "http://sepatest"
VAIMEE = "vaimee!òàù 中 🚀"
HUGE = "0123456789" * 10_000

_G = f"<{GRAPH}>"
_S = "<http://sepatest/subject>"
_P = "<http://sepatest/predicate/"


def _replace(name: str, value: str) -> str:
    place = f"{_S} {_P}{name}>"
    return (
        f"WITH {_G} DELETE {{ {place} ?before }} INSERT {{ {place} {value} }} "
        f"WHERE {{ OPTIONAL {{ {place} ?before }} }}"
    )


def _find(name: str) -> dict[str, str]:
    return {"sparql": f"SELECT ?value {{ GRAPH {_G} {{ {_S} {_P}{name}> ?value }} }}"}


def profile(http: int, websocket: int) -> dict[str, Any]:
    """The members, for a broker on these ports."""
    bound = {"forcedBindings": {"random": {"type": "literal", "value": ""}}}
    return {
        "host": LOOPBACK,
        "sparql11protocol": {
            "protocol": "http",
            "port": http,
            "query": {"path": "/query", "method": "POST", "format": "JSON"},
            "update": {"path": "/update", "method": "POST", "format": "JSON"},
        },
        "sparql11seprotocol": {
            "protocol": "ws",
            "availableProtocols": {"ws": {"port": websocket, "path": "/subscribe"}},
        },
        "namespaces": {"test": "http://sepatest/"},
        "updates": {
            "WRONG": {"sparql": "INSERT DATA { GRAPH x"},
            "DELETE_ALL": {"sparql": f"DELETE WHERE {{ GRAPH {_G} {{ ?s ?p ?o }} }}"},
            "VAIMEE": {"sparql": _replace("vaimee", f"'{VAIMEE}'")},
            "RANDOM": {"sparql": _replace("random", "?random"), **bound},
            "RANDOM1": {"sparql": _replace("random1", "?random"), **bound},
            "HUGE": {"sparql": _replace("huge", f"'{HUGE}'")},
        },
        "queries": {
            "WRONG": {"sparql": "SELECT * { ?s ?p"},
            "ALL": {"sparql": f"SELECT * {{ GRAPH {_G} {{ ?s ?p ?o }} }}"},
            "VAIMEE": _find("vaimee"),
            "RANDOM": _find("random"),
            "RANDOM1": _find("random1"),
            "HUGE": _find("huge"),
            "COUNT": {"sparql": f"SELECT (COUNT(*) AS ?count) {{ GRAPH {_G} {{ ?s ?p ?o }} }}"},
        },
    }  # fmt: skip
