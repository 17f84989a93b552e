"""Mappings, actuators, republish rules and windows: the member `extended` of a profile as RDF.

Place on the way of the data: read at the start into the graph of mappings, which the gateway's own
subscriptions read. Source: terms in ontologies/gateway.ttl; JSON keys are shorter than they:

    mappings: id topic format sensor property feature [selector unit time sequence
              deviceUnit trueValue falseValue expiresAfter availability retained
              availabilities sensorClass scale offset condition decimalSign]
    actuators: id topic property feature [payload format values minimum maximum step unit
              deviceUnit trueValue falseValue sensor tolerance timeLimit name qos retain]
    rules:    id (query | sparql) topic payload on [qos retain onStart infer]
    windows, elementStreams: id, and the members of a window (docs/windows.md)

The member `ontologies` is a list of words: names that ship with the gateway, or files.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from math import isfinite
from typing import Any, TypeVar

from pydantic import ValidationError
from pyoxigraph import Literal, NamedNode, Quad

from jsap.errors import JsapError
from jsap.extended.items import (
    MODELS,
    ActuatorItem,
    AvailabilitiesItem,
    Item,
    MappingItem,
    Number,
    RuleItem,
    WindowItem,
)
from jsap.file_format import first_error
from jsap.lexer import LexError
from jsap.namespaces import expand, iri
from jsap.profile import Profile
from jsap.template import with_prologue

GW = "https://sosa-gateway.example/ns#"
MAPPINGS_GRAPH = NamedNode("https://sosa-gateway.example/graph/mappings")

_SOSA = "http://www.w3.org/ns/sosa/"
_FOR_PROPERTY = NamedNode("http://www.w3.org/ns/ssn/forProperty")
_DECIMAL = NamedNode("http://www.w3.org/2001/XMLSchema#decimal")
_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")


_AnyItem = TypeVar("_AnyItem", bound=Item)
_Object = NamedNode | Literal


def mapping_quads(profile: Profile) -> list[Quad]:
    """The mappings, actuators, rules and windows of a profile as quads of the graph of mappings.

    IRIs may be prefixed names; sensor and feature may have `{1}` in them and are literals then.
    Raises JsapError with the JSON path. Other members of `extended` are free.
    """
    if not isinstance(profile.extended, Mapping):
        return []
    errors: list[JsapError] = []
    quads: list[Quad] = []
    for member, model in MODELS.items():
        for path, item in _items(profile, member, model, errors):
            try:
                quads += _Node(profile.namespaces, profile.source, path, item.id).of(item)
            except JsapError as error:
                errors.append(error)
    _raise(errors)
    return quads


def ontologies_of(profile: Profile) -> tuple[str, ...]:
    """The ontologies that a profile names: names that ship, paths of files.

    Raises JsapError.
    """
    if not isinstance(profile.extended, Mapping):
        return ()
    words: Any = profile.extended.get("ontologies", ())
    path = "extended.ontologies"
    if not isinstance(words, list | tuple):
        raise JsapError(path, "not a list", "write [...]", profile.source)
    for index, word in enumerate(words):
        if not isinstance(word, str) or not word:
            reason = "neither a name nor a file"
            raise JsapError(f"{path}[{index}]", reason, 'write it as "..."', profile.source)
    return tuple(dict.fromkeys(words))


def _raise(errors: Sequence[JsapError]) -> None:
    """The first, with the others."""
    if errors:
        first, *others = [each for error in errors for each in (error, *error.also)]
        raise first.with_others(others)


def one_mapping(members: object, namespaces: Mapping[str, str], path: str = "") -> list[Quad]:
    """One item of `extended.mappings`, wherever it was found, as quads of the graph of mappings.

    Raises JsapError with the JSON path, which begins with `path`.
    """
    mapping = _checked(MappingItem, members, path)
    return _made(path, lambda: _Node(namespaces, "", path, mapping.id).mapping(mapping))


def one_actuator(members: object, namespaces: Mapping[str, str], path: str = "") -> list[Quad]:
    """One item of `extended.actuators`, as `one_mapping`."""
    actuator = _checked(ActuatorItem, members, path)
    return _made(path, lambda: _Node(namespaces, "", path, actuator.id).actuator(actuator))


def _checked(model: type[_AnyItem], members: object, path: str) -> _AnyItem:
    try:
        return model.model_validate(members)
    except ValidationError as error:
        raise first_error(error, path, "", _names(model)) from error


def _names(model: type[Item]) -> list[str]:
    """What the members are called in JSON."""
    fields = model.model_fields.items()
    return [str(each.validation_alias or each.alias or name) for name, each in fields]


def _made(path: str, quads: Callable[[], Iterable[Quad]]) -> list[Quad]:
    """The quads; JsapError also for what RDF has not, as half of a surrogate pair."""
    try:
        return list(quads())
    except JsapError:
        raise
    except ValueError as error:
        raise JsapError(path, str(error), "give texts and numbers that RDF has") from error


def mapping_members(node: NamedNode, quads: Iterable[Quad]) -> dict[str, str | int | float]:
    """What `one_mapping` made the quads of: of several values of a member the first, by text.

    >>> quads = one_mapping(
    ...     {"id": "urn:m", "topic": "a/+", "format": "scalar", "sensor": "urn:s:{1}",
    ...      "property": "urn:p", "feature": "urn:f"}, {})
    >>> mapping_members(NamedNode("urn:m"), quads)["sensor"]
    'urn:s:{1}'
    """
    by_term: dict[str, Quad] = {}
    for quad in sorted(quads, key=str):
        by_term.setdefault(quad.predicate.value, quad)
    members: dict[str, str | int | float] = {"id": node.value}
    for member, term in _TERMS.items():
        if GW + term in by_term:
            members[member] = _member(by_term[GW + term].object)
    return members


def is_member(quad: Quad) -> bool:
    """Whether a node says by it what a mapping's JSON has a member for, its type included."""
    if quad.predicate == _TYPE:
        return quad.object == NamedNode(f"{GW}Mapping")
    return quad.predicate.value in _MEMBER_TERMS


def _member(value: object) -> str | int | float:
    """A number where it is one that JSON has; somebody may have written anything."""
    if isinstance(value, Literal) and value.datatype.value in _NUMBERS:
        try:
            number = float(value.value)
        except ValueError:
            return value.value
        if isfinite(number):
            return int(number) if number.is_integer() else number
    return value.value if isinstance(value, Literal | NamedNode) else str(value)


_TERMS = {
    "topic": "topicFilter",
    "format": "format",
    "sensor": "sensor",
    "property": "observedProperty",
    "feature": "featureOfInterest",
    "selector": "selector",
    "unit": "unit",
    "time": "timeSelector",
    "sequence": "sequenceSelector",
    "deviceUnit": "deviceUnit",
    "trueValue": "trueValue",
    "falseValue": "falseValue",
    "expiresAfter": "expiresAfter",
    "availability": "availabilityTopic",
    "retained": "retained",
    "availabilities": "availabilities",
    "sensorClass": "sensorClass",
    "scale": "scale",
    "offset": "offset",
    "condition": "condition",
    "decimalSign": "decimalSign",
}
"""The term, in our namespace, of each member of a mapping."""

_MEMBER_TERMS = frozenset(GW + term for term in _TERMS.values())

_NUMBERS = frozenset(
    f"http://www.w3.org/2001/XMLSchema#{name}" for name in ("integer", "decimal", "double", "float")
)


def node_paths(profile: Profile) -> dict[str, str]:
    """Where each mapping, actuator, rule and window stands, by its IRI: `extended.mappings[0]`.

    Raises JsapError as `mapping_quads` does.
    """
    if not isinstance(profile.extended, Mapping):
        return {}
    errors: list[JsapError] = []
    paths = {
        iri(item.id, profile.namespaces).value: path
        for member, model in MODELS.items()
        for path, item in _items(profile, member, model, errors)
    }
    _raise(errors)
    return paths


def _items(
    profile: Profile, member: str, model: type[Item], errors: list[JsapError]
) -> Iterator[tuple[str, Item]]:
    """The good ones with their paths; what is wrong with the others is added to `errors`."""
    items: Any = profile.extended.get(member, ())
    if not isinstance(items, list | tuple):
        errors.append(JsapError(f"extended.{member}", "not a list", "write [...]", profile.source))
        return
    seen: dict[str, str] = {}
    for index, item in enumerate(items):
        path = f"extended.{member}[{index}]"
        try:
            checked = model.model_validate(item)
        except ValidationError as error:
            errors.append(first_error(error, path, profile.source))
            continue
        if checked.id in seen:
            reason = f"{checked.id} is the id of {seen[checked.id]} too"
            errors.append(JsapError(f"{path}.id", reason, "give it its own", profile.source))
            continue
        seen[checked.id] = path
        yield path, checked


class _Node:
    """One mapping, actuator, rule or window: the quads of its IRI."""

    def __init__(self, namespaces: Mapping[str, str], source: str, path: str, node_id: str) -> None:
        self._namespaces = namespaces
        self._source = source
        self._path = path
        self._subject = self._iri("id", node_id)

    def of(self, item: Item) -> Iterator[Quad]:
        """The quads of whatever it is. Raises JsapError."""
        match item:
            case MappingItem():
                yield from self.mapping(item)
            case ActuatorItem():
                yield from self.actuator(item)
            case RuleItem():
                yield from self.rule(item)
            case WindowItem():
                yield from self.window(item)
            case _:
                yield self._quad(_TYPE, NamedNode(f"{GW}ElementStream"))

    def mapping(self, mapping: MappingItem) -> Iterator[Quad]:
        """A gw:Mapping."""
        yield self._quad(_TYPE, NamedNode(f"{GW}Mapping"))
        objects: dict[str, _Object | None] = {
            "sensor": self._iri_template("sensor", mapping.sensor),
            "property": self._iri("property", mapping.property),
            "feature": self._iri_template("feature", mapping.feature),
            "unit": None if mapping.unit is None else self._unit(mapping.unit),
            "availabilities": _rule_text(mapping.availabilities),
            "sensorClass": None
            if mapping.sensor_class is None
            else self._iri("sensorClass", mapping.sensor_class),
            "scale": _number(mapping.scale),
            "offset": _number(mapping.offset),
        }
        others = mapping.model_dump(by_alias=True, exclude={"id", "sensor_class", *objects})
        objects |= {member: _literal(value) for member, value in others.items()}
        yield from self._quads({term: objects[member] for member, term in _TERMS.items()})

    def actuator(self, actuator: ActuatorItem) -> Iterator[Quad]:
        """A sosa:Actuator, with one quad for each of its values."""
        yield self._quad(_TYPE, NamedNode(f"{_SOSA}Actuator"))
        yield self._quad(_FOR_PROPERTY, self._iri("property", actuator.property))
        for value in actuator.values:
            yield self._quad(NamedNode(f"{GW}allowedValue"), Literal(value))
        objects: dict[str, _Object | None] = {
            "featureOfInterest": self._iri("feature", actuator.feature),
            "commandTopic": Literal(actuator.topic),
            "commandPayload": _literal(actuator.payload),
            "format": _literal(actuator.format),
            "minimum": _number(actuator.minimum),
            "maximum": _number(actuator.maximum),
            "step": _number(actuator.step),
            "unit": None if actuator.unit is None else self._unit(actuator.unit),
            "deviceUnit": _literal(actuator.device_unit),
            "trueValue": _literal(actuator.true_value),
            "falseValue": _literal(actuator.false_value),
            "confirmedBy": None
            if actuator.sensor is None
            else self._iri("sensor", actuator.sensor),
            "tolerance": _number(actuator.tolerance),
            "timeLimit": _number(actuator.time_limit),
            "name": _literal(actuator.name),
            "qos": _literal(actuator.qos),
            "retain": _literal(actuator.retain),
        }
        yield from self._quads(objects)

    def rule(self, rule: RuleItem) -> Iterator[Quad]:
        """A gw:RepublishRule."""
        if (rule.query is None) == (rule.sparql is None):
            raise self._error("", "neither or both of query and sparql", "keep one of the two")
        yield self._quad(_TYPE, NamedNode(f"{GW}RepublishRule"))
        objects: dict[str, _Object | None] = {
            "query": _literal(rule.query),
            "sparql": None if rule.sparql is None else self._sparql(rule.sparql),
            "topicTemplate": Literal(rule.topic),
            "payloadTemplate": Literal(rule.payload),
            "on": NamedNode(GW + rule.on.capitalize()),
            "qos": _literal(rule.qos),
            "retain": _literal(rule.retain),
            "onStart": _literal(rule.on_start),
            "infer": _literal(rule.infer),
        }
        yield from self._quads(objects)

    def window(self, window: WindowItem) -> Iterator[Quad]:
        """A gw:Window, whose member `m` is gw:windowM."""
        yield self._quad(_TYPE, NamedNode(f"{GW}Window"))
        for key, value in window.model_dump(exclude={"id"}, exclude_none=True).items():
            is_iri = key in ("stream", "sensor", "property", "feature")
            for each in (value,) if isinstance(value, str | int) else value:
                term = self._iri(key, str(each)) if is_iri else _literal(each)
                yield from self._quads({f"window{key.capitalize()}": term})

    def _quads(self, objects: Mapping[str, _Object | None]) -> Iterator[Quad]:
        for name, value in objects.items():
            if value is not None:
                yield self._quad(NamedNode(GW + name), value)

    def _quad(self, predicate: NamedNode, value: _Object) -> Quad:
        return Quad(self._subject, predicate, value, MAPPINGS_GRAPH)

    def _iri(self, key: str, name: str) -> NamedNode:
        try:
            return iri(name, self._namespaces)
        except ValueError as error:
            hint = "give an IRI, or a prefix that `namespaces` has"
            raise self._error(f".{key}", str(error), hint) from error

    def _unit(self, text: str) -> _Object:
        """A QUDT IRI, or as a literal the symbol of a unit, which has no colon."""
        return self._iri("unit", text) if ":" in text else Literal(text)

    def _iri_template(self, key: str, text: str) -> _Object:
        """The IRI, or as a literal the template of one: it has no IRI before it is filled."""
        if "{" in text:
            return Literal(expand(text, self._namespaces))
        return self._iri(key, text)

    def _sparql(self, text: str) -> Literal:
        """The text with the prologue that it needs in the store, away from its profile."""
        try:
            return Literal(with_prologue(text, self._namespaces))
        except LexError as error:
            raise self._error(".sparql", str(error), "correct the SPARQL text") from error

    def _error(self, member: str, reason: str, what_to_do: str) -> JsapError:
        return JsapError(self._path + member, reason, what_to_do, self._source)


def _rule_text(rule: str | AvailabilitiesItem | None) -> Literal | None:
    """The availabilities as JSON, which a profile may write as an object or as its text."""
    if isinstance(rule, AvailabilitiesItem):
        rule = json.dumps(rule.model_dump(exclude_none=True), ensure_ascii=False)
    return _literal(rule)


def _number(value: Number | None) -> Literal | None:
    """As xsd:decimal, with the digits that the profile has."""
    if value is None:
        return None
    return Literal(format(Decimal(str(value)), "f"), datatype=_DECIMAL)


def _literal(value: str | float | None) -> Literal | None:
    return None if value is None else Literal(value)
