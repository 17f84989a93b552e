"""`Element`: what arrives at once in a stream."""

from dataclasses import dataclass

from pyoxigraph import Triple

Key = tuple[str, str, str]
"""IRIs of the sensor, the observed property and the feature of interest of an observation."""


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """Triples that arrived together, and when; among others of its stream it has its place.

    `triples`: in the form of the store (`gateway.rdf.canonical`), each once, in order. `time`: what
    is told of (event time), µs since the epoch; None: the clock of its step. `key`: whose
    observation it is; None: of no observation. `unit`: of an observation's number, IRI; the first
    number in another unit ends the earlier ones of its key. `is_gateway_time`: `time` was given by
    the gateway's clock and moves along when that jumps. `arrival`: of a past element, what the
    gateway's clock said when it came, as well as that is known; None: the clock of its step, and
    of a past one its `time`.
    """

    triples: tuple[Triple, ...]
    time: int | None = None
    key: Key | None = None
    unit: str | None = None
    is_gateway_time: bool = False
    arrival: int | None = None
