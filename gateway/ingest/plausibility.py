"""`Plausibility`: results that a sensor cannot have measured go to the quarantine.

Place on the way of the data: in ingest, between the adapters and the journal. What a sensor can
measure stands in the graph as its capability (W3C SSN 2017, section 4.4.3: `MeasurementRange` of a
`SystemCapability`, bounds by schema.org), learned by a subscription to our own engine; without one
everything is plausible. A jump is a change faster than `gw:maximumRate` since the stream's last
plausible result: after some time any value can be reached, so a stream is never shut out for good.
Where the device's time has stood still since then, the time between the arrivals counts.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import NamedTuple, TypeAlias

from pyoxigraph import Literal, NamedNode

from adapters.values.conversion import convert
from adapters.values.fault import Fault, FaultReason
from adapters.values.memory import Recent
from adapters.values.observation import Observation, StreamKey
from adapters.values.result import DECIMAL, NUMERIC, Result
from gateway.engine import Notification
from gateway.rdf.answer import Answer
from gateway.rdf.terms import Term

log = logging.getLogger(__name__)

_MOST_STREAMS = 50_000

Place: TypeAlias = tuple[str, str | None]
"""A sensor, and the property that a capability is for; None: for all that it observes."""


@dataclass(frozen=True, slots=True)
class Capability:
    """What a sensor can measure; None is no bound.

    `maximum_rate` is the fastest believable change a second. All are in `unit`, a QUDT unit IRI,
    or where that is None in the unit of the sensor's observations, whatever it is.
    """

    minimum: Decimal | None = None
    maximum: Decimal | None = None
    maximum_rate: Decimal | None = None
    unit: str | None = None

    def measured(self, value: Decimal, unit: str | None) -> Decimal | None:
        """A result in `unit` as a number of this capability; None where they cannot meet."""
        if self.unit is None or self.unit == unit:
            return value
        if unit is None:
            return None
        converted = convert(Result(format(value, "f"), DECIMAL), unit, self.unit)
        return None if isinstance(converted, Fault) else Decimal(converted.lexical)


class _Last(NamedTuple):
    """A believed result; numbers in two units are no jump."""

    value: Decimal
    when: datetime
    unit: str | None
    heard: datetime


class Plausibility:
    """The sink of the CAPABILITIES subscription; `fault` is asked by ingest, in its thread."""

    def __init__(self) -> None:
        self._answer = Answer()
        self._capabilities: Mapping[Place, tuple[Capability, ...]] = {}
        self._last = Recent[StreamKey, _Last](_MOST_STREAMS)

    def learn(self, notification: Notification) -> None:
        """Take up what changed; in the scheduler's thread."""
        self._answer.change(notification.results)
        capabilities: dict[Place, tuple[Capability, ...]] = {}
        for fields in self._answer.fields():
            sensor = fields["sensor"]
            if not isinstance(sensor, NamedNode):
                continue
            place = (sensor.value, _iri(fields["property"]))
            capabilities[place] = (*capabilities.get(place, ()), _capability(fields))
        self._capabilities = capabilities

    def out_of_range(self, seen: Observation, when: datetime) -> Fault | None:
        """Why a result alone cannot be, whatever came before; in any thread."""
        del when
        value = _decimal(seen.lexical) if seen.datatype in NUMERIC else None
        return None if value is None else _out_of_range(seen, value, self._of(seen))

    def fault(
        self, seen: Observation, when: datetime, heard: datetime | None = None
    ) -> Fault | None:
        """Why the result cannot be; None where it can.

        `when` is its time, or that of arrival, which `heard` is where it is another one.
        """
        known = self._of(seen)
        if not known or seen.datatype not in NUMERIC:
            return None
        value = _decimal(seen.lexical)
        if value is None:
            return None
        new = _Last(value, when, seen.unit, heard or when)
        fault = _out_of_range(seen, value, known) or self._jump(seen, new, known)
        if fault is None and any(each.maximum_rate is not None for each in known):
            self._last.put(seen.stream, new)
        return fault

    def recall(self, seen: Observation, when: datetime) -> None:
        """Take up what an earlier life of the gateway believed last of a stream."""
        value = _decimal(seen.lexical) if seen.datatype in NUMERIC else None
        if value is not None:
            self._last.put(seen.stream, _Last(value, when, seen.unit, when))

    def _of(self, seen: Observation) -> tuple[Capability, ...]:
        capabilities = self._capabilities
        if not capabilities:
            return ()
        of_all = capabilities.get((seen.sensor, None), ())
        return of_all + capabilities.get((seen.sensor, seen.observed_property), ())

    def _jump(self, seen: Observation, new: _Last, known: Iterable[Capability]) -> Fault | None:
        last = self._last.get(seen.stream)
        if last is None:
            return None
        passed = new.when - last.when or new.heard - last.heard
        seconds = Decimal(str(abs(passed.total_seconds())))
        for each in known:
            if each.maximum_rate is None or (each.unit is None and last.unit != seen.unit):
                continue
            before, now = each.measured(last.value, last.unit), each.measured(new.value, seen.unit)
            if before is None or now is None or abs(now - before) <= each.maximum_rate * seconds:
                continue
            detail = f"{seen.sensor}: from {before} to {now} in {seconds} s"
            return Fault(None, FaultReason.JUMP, ascii(detail)[1:-1])
        return None


def _out_of_range(seen: Observation, value: Decimal, known: Iterable[Capability]) -> Fault | None:
    for each in known:
        measured = each.measured(value, seen.unit)
        if measured is None:
            continue
        if each.minimum is not None and measured < each.minimum:
            reason = f"{measured} is below {each.minimum}"
        elif each.maximum is not None and measured > each.maximum:
            reason = f"{measured} is above {each.maximum}"
        else:
            continue
        return Fault(None, FaultReason.OUT_OF_RANGE, ascii(f"{seen.sensor}: {reason}")[1:-1])
    return None


def _capability(fields: Mapping[str, Term | None]) -> Capability:
    minimum, maximum, rate = (_number(fields, name) for name in ("minimum", "maximum", "rate"))
    return Capability(minimum, maximum, rate, _iri(fields.get("unit")))


def _number(fields: Mapping[str, Term | None], name: str) -> Decimal | None:
    term = fields[name]
    if term is None:
        return None
    number = _decimal(term.value) if isinstance(term, Literal) else None
    if number is None:
        log.error("capability_ignored", extra={"sensor": str(fields["sensor"]), "member": name})
    return number


def _decimal(lexical: str) -> Decimal | None:
    try:
        number = Decimal(lexical)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _iri(term: Term | None) -> str | None:
    return term.value if isinstance(term, NamedNode) else None
