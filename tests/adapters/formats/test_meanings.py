"""What the cases of all families propose: no unit, shape or value contradicts the property."""

from collections.abc import Iterator

import pytest

from adapters.discovery import Discovery
from adapters.registry import Registry
from adapters.values.memory import Memory
from adapters.values.properties import VOCABULARY, Kind, Shape
from adapters.values.proposal import Proposal
from adapters.values.result import BOOLEAN, NUMERIC
from adapters.values.units import unit_iri
from bench.families.cases import Case
from tests.adapters.formats.kit import CASES

OTHER_WORDS = frozenset({"overpower", "JAMMED"})
"""Words that devices have beside true and false."""


def proposals(case: Case) -> Iterator[Proposal]:
    discovery = Discovery()
    for sent in case.sent:
        yield from discovery.discover(sent.message).proposals


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.family}/{case.name}")
def test_unit_of_a_proposal_is_one_of_its_property(case: Case) -> None:
    for proposal in proposals(case):
        if proposal.meaning.is_known and proposal.mapping.unit:
            known = VOCABULARY[proposal.meaning.name]
            unit = unit_iri(proposal.mapping.unit) or proposal.mapping.unit
            assert known.shape is Shape.NUMBER, proposal.label
            assert known.may_have(unit), proposal.label


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.family}/{case.name}")
def test_values_have_the_shape_of_what_is_proposed(case: Case) -> None:
    found = {
        each.mapping.iri: each
        for each in proposals(case)
        if each.meaning.is_known and each.family == each.mapping.format == case.family
    }
    registry, errors = Registry.compile([each.mapping for each in found.values()], Memory())
    assert not errors
    shapes = {
        (each.mapping.observed_property, each.mapping.sensor): VOCABULARY[each.meaning.name]
        for each in found.values()
        if "{" not in each.mapping.sensor
    }
    for sent in case.sent:
        for seen in registry.decode(sent.message).observations:
            known = shapes.get((seen.observed_property, seen.sensor))
            if known is None or sent.expected.get("valid") is False:
                continue
            if known.shape is Shape.NUMBER:
                assert seen.datatype in NUMERIC, (known.name, seen)
            elif known.shape is Shape.TRUTH:
                assert seen.datatype == BOOLEAN or seen.lexical in OTHER_WORDS, (known.name, seen)
            else:
                assert seen.unit is None, (known.name, seen)


def test_no_diagnostic_is_proposed_as_what_is_measured() -> None:
    for case in CASES:
        for proposal in proposals(case):
            meaning = proposal.meaning
            if meaning.is_known and VOCABULARY[meaning.name].kind is Kind.DIAGNOSTIC:
                assert meaning.kind is Kind.DIAGNOSTIC, proposal.label
