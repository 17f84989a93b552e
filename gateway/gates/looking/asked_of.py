"""Which standing queries and rules look at a stream, as far as somebody may know of them.

All standing queries are for the operators, those of rules for who may read the mappings too.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gateway.admin.looking.near_streams import Wanted
from gateway.engine import Standing
from gateway.errors import GatewayError
from gateway.gates.looking.subscriptions import MOST, StandingSources
from gateway.rdf.namespaces import MAPPINGS_GRAPH
from gateway.runtime.text_cache import remembered
from gateway.security.policy import Capability, Policy
from gateway.sparql.parser import parse_query


@dataclass(frozen=True, slots=True)
class Looking:
    """Standing queries that look at a stream, whose they are, rules, and what is wrong with one."""

    standing: Sequence[Standing]
    clients: Mapping[str, str]
    rules: Mapping[str, str]
    errors: Mapping[str, str]

    @property
    def of_rules(self) -> list[str]:
        """The rules among them, by IRI."""
        return [self.rules[each.spuid] for each in self.standing if each.spuid in self.rules]


@dataclass(frozen=True, slots=True)
class Standings:
    """Asks the engine for its standing queries; `rule_errors` are those of rules, by IRI."""

    sources: StandingSources
    rule_errors: Callable[[], Mapping[str, str]]

    async def looking_at(self, stream: tuple[str, str, str], policy: Policy) -> Looking | None:
        """What looks at a stream; None where somebody may know of none."""
        is_operator = Capability.OPERATIONS in policy.capabilities
        if not (is_operator or may_read_mappings(policy)):
            return None
        standing, _ = await self.sources.standing(MOST)
        clients, rules = self.sources.clients(), self.sources.rules()
        shown = [
            each
            for each in standing
            if each.spuid in rules or (is_operator and each.spuid in clients)
        ]
        concerned = await asyncio.to_thread(_concerned, shown, stream)
        return Looking(concerned, clients, rules, self.rule_errors())


def may_read_mappings(policy: Policy) -> bool:
    """Whether somebody may know of mappings and rules."""
    has = Capability.MAPPINGS in policy.capabilities
    return has or policy.query_rights.may_read(MAPPINGS_GRAPH)


def _concerned(standing: Sequence[Standing], stream: tuple[str, str, str]) -> list[Standing]:
    return [each for each in standing if _looks_at(each.text, stream)]


def _looks_at(text: str, stream: tuple[str, str, str]) -> bool:
    wanted = _wanted(text)
    return wanted is not None and wanted.is_about_observations and wanted.concerns(*stream)


@remembered()
def _wanted(text: str) -> Wanted | None:
    try:
        return Wanted.of(parse_query(text, is_admitted=True))
    except GatewayError:  # an extension of the engine's own, which is about no observation
        return None
