"""The families of FIWARE: measures for its IoT Agents, and what its context broker notifies."""

from functools import partial

from adapters.adapter import Format, stateless
from adapters.formats.fiware import ngsi
from adapters.formats.fiware.measures import (
    MeasuresAdapter,
    companions,
    json_measures,
    proposals,
    subject,
)
from adapters.formats.fiware.ultralight import ultralight_measures
from adapters.values.memory import Memory
from adapters.values.payload import Payload
from adapters.values.proposal import Names, Proposal


def _propose_json(payload: Payload, names: Names, memory: Memory) -> "list[Proposal]":
    del memory
    return [*proposals("fiware", json_measures, payload, names)]


def _propose_ultralight(payload: Payload, names: Names, memory: Memory) -> "list[Proposal]":
    del memory
    return [*proposals("ultralight", ultralight_measures, payload, names)]


FORMAT = Format(
    stateless(partial(MeasuresAdapter, read=json_measures)),
    companions=companions,
    subject=subject,
    propose=_propose_json,
)
ULTRALIGHT = Format(
    stateless(partial(MeasuresAdapter, read=ultralight_measures)),
    companions=companions,
    subject=subject,
    propose=_propose_ultralight,
)
NGSI = Format(stateless(ngsi.NgsiAdapter), names=True, propose=ngsi.propose)
