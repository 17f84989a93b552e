"""`Fault`: what was wrong with a payload, as a value; decoding never raises for bytes of a device.

A fault goes to the quarantine and into the metrics next to whatever could be decoded. `detail`
is ASCII, short, and safe to log: at most an excerpt of the offending token.
"""

from dataclasses import dataclass
from enum import Enum, unique

EXCERPT_CHARS = 40


@unique
class FaultReason(Enum):
    """Why an observation, or a part of one, could not be had. The values are stable."""

    TOO_LARGE = "too_large"
    INVALID_UTF8 = "invalid_utf8"
    MALFORMED = "malformed"
    TOO_DEEP = "too_deep"
    DUPLICATE_KEY = "duplicate_key"
    EMPTY = "empty"
    NULL = "null"
    NOT_FINITE = "not_finite"
    TOO_MANY_DIGITS = "too_many_digits"
    NOT_A_VALUE = "not_a_value"
    INVALID_TEXT = "invalid_text"
    MISSING = "missing"
    SENTINEL = "sentinel"
    OUT_OF_RANGE = "out_of_range"
    JUMP = "jump"
    SENML_STRUCTURE = "senml_structure"
    SENML_VERSION = "senml_version"
    TIME_UNUSABLE = "time_unusable"
    SEQUENCE_UNUSABLE = "sequence_unusable"
    UNIT_UNKNOWN = "unit_unknown"
    UNIT_MISMATCH = "unit_mismatch"
    BAD_QUALITY = "bad_quality"
    STALE = "stale"
    UNKNOWN_NAME = "unknown_name"
    NO_MAPPING = "no_mapping"
    """For a message in quarantine: the mapping of its topic has gone since."""

    @property
    def costs_observation(self) -> bool:
        """False where the observation was kept without its time, sequence or unit."""
        return self not in _KEEPS_OBSERVATION


_KEEPS_OBSERVATION = frozenset(
    {FaultReason.TIME_UNUSABLE, FaultReason.SEQUENCE_UNUSABLE, FaultReason.UNIT_UNKNOWN}
)


@dataclass(frozen=True, slots=True)
class Fault:
    """A defect of one message; `mapping` is the IRI of the mapping it hit, None for all of them."""

    mapping: str | None
    reason: FaultReason
    detail: str

    def of(self, mapping: str) -> "Fault":
        """The same fault, charged to `mapping`."""
        return Fault(mapping, self.reason, self.detail)


def excerpt(text: str) -> str:
    """`text` quoted, in ASCII and shortened, for a `detail`.

    >>> excerpt("x" * 99) == repr("x" * EXCERPT_CHARS) + "..."
    True
    """
    return ascii(text) if len(text) <= EXCERPT_CHARS else ascii(text[:EXCERPT_CHARS]) + "..."
