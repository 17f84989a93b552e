"""`Element`: what arrives at once in a stream."""

from dataclasses import dataclass

from pyoxigraph import Triple

from gateway.windows.parted import Parted, Triples

Key = tuple[str, str, str]
"""IRIs of the sensor, the observed property and the feature of interest of an observation."""

ELEMENT_BYTES = 150
TRIPLE_BYTES = 300


@dataclass(slots=True, eq=False)
class Element:
    """Triples that arrived together, and when; among others of its stream it has its place.

    `triples`: in the form of the store (`gateway.rdf.canonical`), each once, in order; made, or
    `Parted`. `time`: what is told of (event time), µs since the epoch; None: the clock of its step.
    `key`: whose observation it is; None: of no observation. `unit`: of an observation's number,
    IRI; the first number in another unit ends the earlier ones of its key. `is_gateway_time`:
    `time` was given by the gateway's clock and moves along when that jumps. `arrival`: of a past
    element, what the gateway's clock said when it came, as well as that is known; None: the clock
    of its step, and of a past one its `time`. `size`: bytes of its text, as that is known; None: it
    is measured, 0.3 µs a triple. Not frozen, which would thrice the time of making one; nobody
    changes it.
    """

    triples: Triples
    time: int | None = None
    key: Key | None = None
    unit: str | None = None
    is_gateway_time: bool = False
    arrival: int | None = None
    size: int | None = None

    @property
    def is_moving(self) -> bool:
        """Whether its time is the gateway's, which moves along with a jump of the clock."""
        return self.is_gateway_time or self.time is None

    @property
    def shared(self) -> tuple[Triple, ...]:
        """The triples that others may have too."""
        triples = self.triples
        return triples.shared if isinstance(triples, Parted) else triples

    def weight(self) -> int:
        """Bytes that it takes by estimate: its text, 150 for itself and 300 for each triple.

        Measured with CPython 3.11 and pyoxigraph 0.5: a triple is 200 bytes and its text, what is
        known of it in a window about 100; an element and its record 150. All of a `Parted` one.
        """
        size, triples = self.size, self.triples
        if isinstance(triples, Parted):
            return triples.bytes(None)
        if size is None:
            size = len(str(triples[0])) if len(triples) == 1 else sum(map(len, map(str, triples)))
        return size + ELEMENT_BYTES + TRIPLE_BYTES * len(triples)
