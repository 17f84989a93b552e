"""A `Policy` in words: as an administrator types it and as the identity store keeps it.

A graph is its IRI, `default` or `all`; a topic filter is itself or `all`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from pyoxigraph import DefaultGraph, NamedNode

from adapters.values.topic_filter import TopicFilter
from gateway.errors import BadRequestError
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName
from gateway.security.policy import Capability, Policy

ALL = "all"
DEFAULT = "default"

T = TypeVar("T")

Words = Mapping[str, Sequence[str]]
"""The words of each part of a policy; a part that is missing has none."""


def policy_of(words: Words) -> Policy:
    """The policy that the words say. Raises BadRequestError for a word that is none.

    >>> policy_of({"query": ["all"], "publish": ["home/#"]}).may_publish("home/lamp")
    True
    """
    return Policy(
        query=_named(words.get("query", ()), _graph),
        subscribe=_named(words.get("subscribe", ()), _graph),
        update=_named(words.get("update", ()), _graph),
        publish=_named(words.get("publish", ()), _topic_filter),
        receive=_named(words.get("receive", ()), _topic_filter),
        capabilities=frozenset(_capability(word) for word in words.get("may", ())),
    )


def words_of(policy: Policy) -> dict[str, list[str]]:
    """The words that say a policy; parts without a right are left out.

    >>> words_of(Policy(query=None, update=frozenset({NamedNode("urn:g"), DEFAULT_GRAPH})))
    {'query': ['all'], 'update': ['default', 'urn:g']}
    """
    parts = {
        "query": _graph_words(policy.query),
        "subscribe": _graph_words(policy.subscribe),
        "update": _graph_words(policy.update),
        "publish": _sorted(policy.publish),
        "receive": _sorted(policy.receive),
        "may": sorted(capability.value for capability in policy.capabilities),
    }
    return {name: words for name, words in parts.items() if words}


def encode_policy(policy: Policy) -> str:
    """The policy as JSON; equal policies give equal texts."""
    return json.dumps(words_of(policy), ensure_ascii=False)


def decode_policy(text: str) -> Policy:
    """What `encode_policy` gave. Raises BadRequestError."""
    try:
        return policy_of(json.loads(text))
    except (ValueError, AttributeError, TypeError) as error:
        raise BadRequestError(f"a policy that cannot be read: {error}") from error


def _named(words: Iterable[str], read: Callable[[str], T]) -> frozenset[T] | None:
    listed = list(words)
    return None if ALL in listed else frozenset(map(read, listed))


def _graph(word: str) -> GraphName:
    if word == DEFAULT:
        return DEFAULT_GRAPH
    try:
        return NamedNode(word)
    except ValueError as error:
        raise BadRequestError(
            f"{word!r} is not a graph", f"write its IRI without <>, {DEFAULT!r} or {ALL!r}"
        ) from error


def _topic_filter(word: str) -> str:
    try:
        return TopicFilter.parse(word).text
    except ValueError as error:
        raise BadRequestError(f"{word!r} is not an MQTT topic filter: {error}") from error


def _capability(word: str) -> Capability:
    try:
        return Capability(word)
    except ValueError as error:
        known = ", ".join(capability.value for capability in Capability)
        raise BadRequestError(f"there is no right {word!r}", f"there are: {known}") from error


def _graph_words(graphs: frozenset[GraphName] | None) -> list[str]:
    if graphs is None:
        return [ALL]
    return sorted(DEFAULT if isinstance(graph, DefaultGraph) else graph.value for graph in graphs)


def _sorted(filters: frozenset[str] | None) -> list[str]:
    return [ALL] if filters is None else sorted(filters)
