"""A house that has everything: each property with each of its units, each sort of actuator."""

from collections.abc import Iterator
from datetime import UTC, datetime

from pyoxigraph import Literal, NamedNode

from adapters.values.observation import StreamKey
from adapters.values.properties import BASE, VOCABULARY, Property, Shape
from gateway.actuation.actuator import Actuator
from gateway.exchange.homeassistant.description import Naming, describe
from gateway.exchange.homeassistant.entity import Described
from gateway.exchange.homeassistant.facts import Facts, Seen
from gateway.exchange.homeassistant.topics import Topics
from gateway.ingest.sosa import WKT
from gateway.rdf.namespaces import UNIT, XSD

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
TOPICS = Topics("homeassistant", "sosa-gateway", "test")
HALL = "urn:room:hall"
LABELS = {HALL: "Hall", "urn:platform:1": "Everything"}


def literal(lexical: str, datatype: str) -> Literal:
    return Literal(lexical, datatype=NamedNode(XSD + datatype))


def _values(term: Property) -> Iterator[tuple[str, Literal, str | None]]:
    """A value with each unit that the property has."""
    if term.shape is Shape.TRUTH:
        yield "truth", literal("true", "boolean"), None
    elif term.shape is Shape.WORD:
        yield "word", Literal("some word"), None
    else:
        for unit in term.units:
            told = None if unit == UNIT + "UNITLESS" else unit
            yield unit.rpartition("/")[2], literal("12.5", "decimal"), told


def streams() -> dict[StreamKey, Seen]:
    found = {}
    for term in VOCABULARY.values():
        for name, value, unit in _values(term):
            sensor = f"urn:sensor:{term.name}:{name}"
            found[sensor, term.iri, HALL] = Seen(value, unit, NOW)
    for name, value in {
        "number": literal("7", "integer"),
        "double": literal("1.5E1", "double"),
        "truth": literal("false", "boolean"),
        "time": literal("2026-03-02T08:00:00Z", "dateTime"),
        "word": Literal("auto"),
        "place": Literal("POINT (11.34 44.49)", datatype=NamedNode(WKT)),
    }.items():
        found[f"urn:own:{name}", f"urn:property:{name}", HALL] = Seen(value, None, NOW)
    return found


def actuators() -> list[Actuator]:
    def made(name: str, term: str, **fields: str) -> Actuator:
        values = fields.pop("values", "").split()
        known = {
            "topic": f"{name}/set",
            "name": name,
            "property": BASE + term,
            "feature": f"urn:thing:{name}",
            "sensor": f"urn:sensor:of-{name}",
        }
        return Actuator.of(f"urn:actuator:{name}", {**known, **fields}, values)

    return [
        made("lamp", "power_state", values="ON OFF"),
        made("fan", "power_state", trueValue="go", falseValue="stop"),
        made("door", "locked", values="LOCK UNLOCK", trueValue="LOCK", falseValue="UNLOCK"),
        made("keys", "child_lock"),
        made("heater", "set_point", minimum="5", maximum="30", step="0.5", unit=UNIT + "DEG_C"),
        made("blind", "position", minimum="0", maximum="100", unit="%"),
        made("dimmer", "brightness", minimum="0"),
        made("mode", "hvac_mode", values="off heat cool"),
        made("words", "color"),
    ]


def house() -> Described:
    """All of it, as the publisher would describe it."""
    seen = streams()
    platforms = {stream[0]: "urn:platform:1" for stream in seen}
    labels = {**LABELS, **{stream[0]: f"Everything {stream[0][11:]}" for stream in seen}}
    facts = Facts(seen, labels, platforms, {"urn:sensor:battery:PERCENT": "urn:model:X1"})
    naming = Naming(TOPICS, lambda each: f"actuators/{each.name}/set", 5000)
    return describe(facts, actuators(), naming)
