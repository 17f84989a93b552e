"""Engines that reason, and what tests ask of them."""

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from pyoxigraph import DefaultGraph, NamedNode, QuerySolutions

from gateway.engine import Engine, Notification, Outcome, QueryRequest, Rights, SubscribeRequest
from gateway.rdf.dataset import Dataset
from gateway.rdf.namespaces import ONTOLOGY_GRAPH, OWL, RDFS
from gateway.rdf.solutions import SolutionBag
from gateway.rdf.terms import GraphName
from gateway.reasoning.domains import Domain, Domains
from gateway.reasoning.reasoning import MOST_DERIVED, Reasoning

G, H, INTO = (NamedNode(f"urn:{name}") for name in ("g", "h", "into"))
PLAIN = Domains(frozenset({DefaultGraph(), G, H}))
JOINT = Domains(joint=(Domain(frozenset({G, H}), INTO),))
PREFIXES = f"PREFIX rdfs: <{RDFS}> PREFIX owl: <{OWL}> "
ABOVE = "<urn:A> rdfs:subClassOf <urn:B>"
MEMBERS = "SELECT ?s { ?s a <urn:B> }"


def opened(
    domains: Domains = PLAIN,
    path: Path | None = None,
    *,
    derived: int = MOST_DERIVED,
    at_once: bool = True,
    workers: int = 0,
    on_notification: Callable[[Notification], None] | None = None,
) -> Engine:
    """An engine that reasons."""
    reasoning = Reasoning(domains, derived, at_once)
    return Engine.open(path, workers, reasoning=reasoning, on_notification=on_notification)


def axioms(text: str, verb: str = "INSERT DATA") -> str:
    """The UPDATE that brings axioms, in Turtle without prefixes."""
    return f"{PREFIXES}{verb} {{ GRAPH {ONTOLOGY_GRAPH} {{ {text} }} }}"


def subscribed(
    engine: Engine, text: str = MEMBERS, *, infer: bool = True, rights: Rights | None = None
) -> Notification:
    """The first notification."""
    request = SubscribeRequest(text, None, rights or Rights(), infer=infer)
    return engine.subscribe(request)


def answered(
    engine: Engine,
    text: str = MEMBERS,
    *,
    infer: bool = True,
    dataset: Dataset | None = None,
    read: Iterable[GraphName] | None = None,
) -> set[str]:
    """The first column of the answer of a QUERY."""
    rights = Rights(read=None if read is None else frozenset(read))
    results = engine.query(QueryRequest(text, dataset, rights, infer=infer))
    assert isinstance(results, QuerySolutions)
    return {value(row[0]) for row in results}


def value(term: object) -> str:
    """How tests name a term."""
    return str(getattr(term, "value", term)).removeprefix("urn:")


def told(outcome: Outcome, first: Notification) -> tuple[set[str], set[str]]:
    """The first columns of what one subscriber was told to be there, and to be gone."""
    (notification,) = (each for each in outcome.notifications if each.spuid == first.spuid)
    return named(notification.added), named(notification.removed)


def named(rows: Iterable[Iterable[object]]) -> set[str]:
    """The first column of rows, each there once."""
    columns = [
        value(next(iter(dict(row).values() if isinstance(row, dict) else row))) for row in rows
    ]
    assert len(columns) == len(set(columns))
    return set(columns)


def bag(first: Notification, outcomes: Iterable[Outcome]) -> SolutionBag:
    """What a subscriber's notifications add up to."""
    rows = Counter(first.results.added)
    for outcome in outcomes:
        for each in outcome.notifications:
            if each.spuid == first.spuid:
                rows = rows - Counter(each.results.removed) + Counter(each.results.added)
    return rows
