"""What an actuator is in Home Assistant, by what it takes: switch, lock, number, select or text.

Place: asked by `description`. Commands are the values themselves, which the topic of the actuator
takes (docs/actuators.md); numbers are in the actuator's unit.
"""

from collections.abc import Mapping
from decimal import Decimal

from pyoxigraph import Literal

from adapters.values.properties import Kind as PropertyKind
from adapters.values.properties import Property
from gateway.actuation.actuator import Actuator
from gateway.exchange.homeassistant.classes import of_number, of_word
from gateway.exchange.homeassistant.entity import Json
from gateway.exchange.homeassistant.states import LONGEST_STATE, Form, Kind

_WIDE = Decimal(1_000_000)
"""Numbers without bounds have these: Home Assistant wants some."""

_LEAST_STEP = Decimal("0.001")
_FINE = Decimal("0.1")
"""The step where the actuator has none; Home Assistant's own is 1."""

Commanded = tuple[str, Mapping[str, Json], Form]
"""Component, members of the announcement, form of the state."""


def commanded(actuator: Actuator, term: Property | None) -> Commanded:
    """How it appears."""
    category: dict[str, Json] = {}
    if term is not None and term.kind in {PropertyKind.SETTING, PropertyKind.DIAGNOSTIC}:
        category["entity_category"] = "config"
    if _is_switch(actuator, term):
        return _switch(actuator, term, category)
    icon: dict[str, Json] = {**of_word(term).members()}
    icon.pop("entity_category", None)
    if actuator.values:
        form = Form(Kind.WORD, is_read=False, options=actuator.values)
        return "select", {"options": [*actuator.values], **icon, **category}, form
    if actuator.is_numeric:
        return _number(actuator, term, category)
    return "text", {"max": LONGEST_STATE, **icon, **category}, Form(Kind.WORD, is_read=False)


def _is_switch(actuator: Actuator, term: Property | None) -> bool:
    """Whether it takes two values that are true and false."""
    if actuator.values:
        meanings = {actuator.words.meaning(Literal(word)) for word in actuator.values}
        return len(actuator.values) == 2 and meanings == {True, False}
    if actuator.words.true and actuator.words.false:
        return True
    is_truth = term is not None and not term.units and term.shape.value == "truth"
    return is_truth and not actuator.is_numeric


def _switch(actuator: Actuator, term: Property | None, category: Mapping[str, Json]) -> Commanded:
    """A lock is one where it is locked that is true; both are told true and false."""
    form = Form(Kind.TRUTH, is_read=False, words=actuator.words)
    if term is not None and term.name == "locked":
        members: dict[str, Json] = {
            "payload_lock": "true",
            "payload_unlock": "false",
            "state_locked": "ON",
            "state_unlocked": "OFF",
        }
        return "lock", {**members, **category}, form
    members = {
        "payload_on": "true",
        "payload_off": "false",
        "state_on": "ON",
        "state_off": "OFF",
    }
    return "switch", {**members, **category}, form


def _number(actuator: Actuator, term: Property | None, category: Mapping[str, Json]) -> Commanded:
    least = -_WIDE if actuator.minimum is None else actuator.minimum
    most = _WIDE if actuator.maximum is None else actuator.maximum
    if least >= most:
        most = least + 1
    step = max(actuator.step or _FINE, _LEAST_STEP)
    meaning = of_number(term, actuator.unit).members()
    members: dict[str, Json] = {
        "min": float(least),
        "max": float(most),
        "step": float(step),
        "mode": "box",
    }
    for name in ("device_class", "unit_of_measurement", "icon"):
        if name in meaning:
            members[name] = meaning[name]
    form = Form(Kind.NUMBER, actuator.unit, is_read=False, least=least, most=most)
    return "number", {**members, **category}, form
