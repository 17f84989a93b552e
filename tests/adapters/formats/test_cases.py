"""Every case of every family: each message, field by field."""

import pytest

from adapters.discovery import Discovery
from bench.families.cases import Case
from tests.adapters.formats.kit import CASES, expected, noticed, proposed, registry, seen


def named(case: Case) -> str:
    return f"{case.family}/{case.name}"


@pytest.mark.parametrize("case", CASES, ids=named)
def test_each_message_gives_exactly_what_the_case_says(case: Case) -> None:
    decode = registry(case).decode
    for number, sent in enumerate(case.sent):
        decoded = decode(sent.message)
        told = sent.expected
        assert [seen(each) for each in decoded.observations] == expected(told, "observations"), (
            number
        )
        assert [fault.reason.value for fault in decoded.faults] == expected(told, "faults"), number
        notices = [noticed(each) for each in decoded.notices]
        assert sorted(notices, key=str) == sorted(expected(told, "notices"), key=str), number
        if case.mappings:
            assert decoded.matched is not told.get("unmapped", False), number


@pytest.mark.parametrize("case", CASES, ids=named)
def test_discovery_tells_family_and_proposals(case: Case) -> None:
    discovery = Discovery()
    for number, sent in enumerate(case.sent):
        told = sent.expected
        if "family" not in told:
            continue
        found = discovery.discover(sent.message)
        assert found.family == told["family"], number
        assert list(found.withdrawn) == expected(told, "withdrawn"), number
        wanted = expected(told, "proposals")
        assert len(found.proposals) == len(wanted), [each.label for each in found.proposals]
        for proposal, members in zip(found.proposals, wanted, strict=True):
            assert proposed(proposal, members) == members, number
