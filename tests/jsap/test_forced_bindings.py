"""Values become terms of the declared kind, or are refused with a reason."""

from decimal import Decimal

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from jsap.forced_bindings import BindingType, ForcedBinding, Value
from jsap.lexical_forms import is_lexical_form
from jsap.namespaces import XSD

URI = ForcedBinding(BindingType.URI)
BNODE = ForcedBinding(BindingType.BNODE)
LITERAL = ForcedBinding(BindingType.LITERAL)
ENGLISH = ForcedBinding(BindingType.LITERAL, language="en")


def xsd(name: str) -> NamedNode:
    return NamedNode(XSD + name)


def typed(name: str) -> ForcedBinding:
    return ForcedBinding(BindingType.LITERAL, datatype=xsd(name))


@pytest.mark.parametrize(
    ("binding", "value", "term"),
    [
        (URI, "urn:a", NamedNode("urn:a")),
        (URI, NamedNode("urn:a"), NamedNode("urn:a")),
        (BNODE, "b1", BlankNode("b1")),
        (BNODE, "_:b1", BlankNode("b1")),
        (LITERAL, "text", Literal("text")),
        (LITERAL, "", Literal("")),
        (LITERAL, True, Literal("true", datatype=xsd("boolean"))),
        (LITERAL, 7, Literal("7", datatype=xsd("integer"))),
        (LITERAL, 0.5, Literal("0.5", datatype=xsd("double"))),
        (LITERAL, Decimal("0.50"), Literal("0.50", datatype=xsd("decimal"))),
        (LITERAL, Literal("a", language="de"), Literal("a", language="de")),
        (ENGLISH, "text", Literal("text", language="en")),
        (typed("decimal"), 7, Literal("7", datatype=xsd("decimal"))),
        (typed("decimal"), 1e-7, Literal("0.0000001", datatype=xsd("decimal"))),
        (typed("decimal"), "1.50", Literal("1.50", datatype=xsd("decimal"))),
        (typed("integer"), 7.0, Literal("7", datatype=xsd("integer"))),
        (typed("double"), float("-inf"), Literal("-INF", datatype=xsd("double"))),
        (typed("double"), Decimal("NaN"), Literal("NaN", datatype=xsd("double"))),
        (typed("double"), 1e22, Literal("1e+22", datatype=xsd("double"))),
        (typed("boolean"), False, Literal("false", datatype=xsd("boolean"))),
        (typed("boolean"), "1", Literal("1", datatype=xsd("boolean"))),
        (typed("string"), "a", Literal("a")),
        (typed("duration"), "PT1S", Literal("PT1S", datatype=xsd("duration"))),
    ],
)
def test_value_that_fits_becomes_its_term(
    binding: ForcedBinding, value: Value, term: Value
) -> None:
    assert binding.term(value) == term


@pytest.mark.parametrize(
    ("binding", "value", "reason"),
    [
        (URI, Literal("urn:a"), "is a literal, not an IRI"),
        (URI, "no iri", "Invalid IRI"),
        (URI, "urn:a> . <urn:b", "Invalid IRI"),
        (URI, 7, "7 is no text"),
        (BNODE, NamedNode("urn:a"), "is an IRI, not a blank node"),
        (BNODE, "a b", "identifier is invalid"),
        (LITERAL, NamedNode("urn:a"), "is an IRI, not a literal"),
        (ENGLISH, Literal("a"), "is not in the language en"),
        (ENGLISH, Literal("a", language="de"), "is not in the language en"),
        (ENGLISH, 7, "7 is no text"),
        (typed("integer"), Literal("7"), "is not of datatype"),
        (typed("integer"), Literal("7", datatype=xsd("decimal")), "is not of datatype"),
        (typed("integer"), "7.5", "'7.5' is no"),
        (typed("integer"), 7.5, "'7.5' is no"),
        (typed("integer"), True, "True is no"),
        (typed("decimal"), float("nan"), "'NaN' is no"),
        (typed("decimal"), "1e5", "'1e5' is no"),
        (typed("decimal"), Decimal("1e999999999"), "has more than"),
        (typed("boolean"), "yes", "'yes' is no"),
        (typed("boolean"), 1, "1 is no"),
        (typed("dateTime"), "2026-02-30T00:00:00Z", "is no"),
    ],
)
def test_value_that_does_not_fit_is_refused(
    binding: ForcedBinding, value: Value, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        binding.term(value)


@pytest.mark.parametrize(
    ("datatype", "right", "wrong"),
    [
        ("boolean", ["true", "false", "0", "1"], ["True", "", " true", "true\n"]),
        ("integer", ["0", "-7", "+007"], ["", "1.0", "٣", "1 ", "--1"]),
        ("decimal", ["1", "1.", ".5", "-0.50"], [".", "1e5", "INF", "NaN", "1,5"]),
        ("double", ["1e5", "-.5E-3", "INF", "-INF", "NaN", "+INF"], ["e5", "inf", "-NaN", "1e"]),
        (
            "dateTime",
            [
                "2026-03-02T07:22:40",
                "2026-03-02T07:22:40.310Z",
                "2024-02-29T24:00:00+14:00",
                "-0044-03-15T12:00:00Z",
                "2000-02-29T00:00:00Z",
            ],
            [
                "2026-03-02",
                "2026-3-2T07:22:40",
                "2026-13-02T07:22:40",
                "2026-04-31T07:22:40",
                "2100-02-29T07:22:40",
                "2026-03-02T24:00:01Z",
                "2026-03-02T07:22:60Z",
                "2026-03-02T07:22:40+14:30",
                "02026-03-02T07:22:40",
            ],
        ),
        ("dateTimeStamp", ["2026-03-02T07:22:40-05:30"], ["2026-03-02T07:22:40"]),
    ],
)
def test_lexical_form_is_as_xsd_has_it(datatype: str, right: list[str], wrong: list[str]) -> None:
    assert [text for text in right if not is_lexical_form(text, XSD + datatype)] == []
    assert [text for text in wrong if is_lexical_form(text, XSD + datatype)] == []
