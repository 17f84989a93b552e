"""`Policy`: what one identity may do, as an administrator has said it.

Place: kept with the identity; every gate turns the part that it is about into `Rights` of the
engine, or asks it about a topic.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from adapters.values.topic_filter import TopicFilter, TopicTrie
from gateway.rdf.namespaces import (
    ACTUATIONS_GRAPH,
    ALARMS_GRAPH,
    CHANGES_GRAPH,
    CONTRADICTIONS_GRAPH,
    DELAYED_GRAPH,
    MAPPINGS_GRAPH,
    ONTOLOGY_GRAPH,
    PROPOSALS_GRAPH,
    STATE_GRAPH,
)
from gateway.rdf.rights import Graphs, Rights
from gateway.rdf.terms import GraphName

TopicFilters = frozenset[str] | None
"""MQTT topic filters; None is every topic."""

NOTHING: frozenset[str] = frozenset()


class Capability(StrEnum):
    """A right that no graph or topic expresses."""

    MAPPINGS = "mappings"
    """Write the graphs of mappings, rules, proposals: what devices mean, what is sent to them."""
    ONTOLOGY = "ontology"
    """Write the graph of axioms: what follows from what everybody asserts."""
    COMMAND = "command"
    """Write the graph of actuations: have actuators do something."""
    OPERATIONS = "operations"
    """Look at metrics, counters, quarantine and the dashboard."""
    FEDERATE = "federate"
    """Ask other gateways: subscriptions and queries that name them."""
    SYSTEM = "system"
    """Write what the gateway keeps for itself: its state, alarms, everybody's delayed UPDATEs."""


_OF_THE_GATEWAY = {
    Capability.MAPPINGS: frozenset[GraphName]({MAPPINGS_GRAPH, PROPOSALS_GRAPH, CHANGES_GRAPH}),
    Capability.ONTOLOGY: frozenset[GraphName]({ONTOLOGY_GRAPH}),
    Capability.COMMAND: frozenset[GraphName]({ACTUATIONS_GRAPH}),
    Capability.SYSTEM: frozenset[GraphName](
        {STATE_GRAPH, DELAYED_GRAPH, ALARMS_GRAPH, CONTRADICTIONS_GRAPH}
    ),
}
"""The graphs that an UPDATE sees and touches by a capability and not otherwise."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Rights of an identity; what is not named is not allowed, None is everything.

    `update` is about what an UPDATE writes; its WHERE reads what `query` lets read. The gateway's
    own graphs, as those of mappings, axioms, state, it sees and touches only by the capability for
    them.

    >>> policy = Policy(publish=frozenset({"home/+/state"}), receive=frozenset({"home/#"}))
    >>> policy.may_publish("home/lamp/state"), policy.may_publish("home/lamp/set")
    (True, False)
    >>> policy.may_subscribe("home/lamp/#"), policy.may_subscribe("#")
    (True, False)
    """

    query: Graphs = frozenset()
    subscribe: Graphs = frozenset()
    update: Graphs = frozenset()
    publish: TopicFilters = NOTHING
    receive: TopicFilters = NOTHING
    capabilities: frozenset[Capability] = frozenset()

    @property
    def query_rights(self) -> Rights:
        """The rights of a QUERY."""
        return Rights(read=self.query, write=frozenset())

    @property
    def subscribe_rights(self) -> Rights:
        """The rights of a SUBSCRIBE."""
        return Rights(read=self.subscribe, write=frozenset())

    @property
    def update_rights(self) -> Rights:
        """The rights of an UPDATE: its WHERE reads what a QUERY may read.

        Of the gateway's own graphs it reads and writes those that a capability is for.
        """
        return _update_rights(self)

    def may_publish(self, topic: str) -> bool:
        """Whether the identity may publish to an MQTT topic."""
        return _matches(self.publish, topic)

    def may_receive(self, topic: str) -> bool:
        """Whether the identity may be sent what is published to an MQTT topic."""
        return _matches(self.receive, topic)

    def may_subscribe(self, topic_filter: str) -> bool:
        """Whether every topic that the filter matches may be received."""
        if self.receive is None:
            return True
        return any(covers(allowed, topic_filter) for allowed in self.receive)


EVERYTHING = Policy(None, None, None, None, None, frozenset(Capability))
"""A policy with all rights."""


@lru_cache(maxsize=1024)
def _update_rights(policy: Policy) -> Rights:
    reserved, granted = frozenset[GraphName](), frozenset[GraphName]()
    for capability, graphs in _OF_THE_GATEWAY.items():
        if capability in policy.capabilities:
            granted |= graphs
        else:
            reserved |= graphs
    return Rights(_with(policy.query, granted), _with(policy.update, granted), reserved)


def _with(graphs: Graphs, more: frozenset[GraphName]) -> Graphs:
    return None if graphs is None else graphs | more


def covers(allowed: str, asked: str) -> bool:
    """Whether a topic filter matches every topic that another one matches (MQTT 3.1.1, 4.7).

    >>> covers("a/#", "a"), covers("a/+", "a/b"), covers("a/+", "a/#"), covers("#", "$SYS/x")
    (True, True, False, False)
    """
    if asked.startswith("$") and allowed[:1] in {"+", "#"}:
        return False
    mine, theirs = allowed.split("/"), asked.split("/")
    for position, level in enumerate(mine):
        if level == "#":
            return True
        if position == len(theirs) or theirs[position] == "#":
            return False
        if level not in {"+", theirs[position]}:
            return False
    return len(mine) == len(theirs)


def _matches(filters: TopicFilters, topic: str) -> bool:
    return filters is None or bool(_trie(filters).match(topic))


@lru_cache(maxsize=1024)
def _trie(filters: frozenset[str]) -> TopicTrie[None]:
    trie = TopicTrie[None]()
    for each in filters:
        trie.insert(TopicFilter.parse(each), None)
    return trie
