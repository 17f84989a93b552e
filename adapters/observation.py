"""`Observation`: one measured value, as W3C SOSA models it, before it has an identity.

Source: W3C SOSA/SSN (2017), section 4.2.4; RFC 8428 for the forms of a result.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

XSD = "http://www.w3.org/2001/XMLSchema#"

Value = bool | int | float | Decimal | str
"""A result as Python has it: Decimal for JSON numbers with a fraction, so that no digit is lost."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What a sensor saw: sensor, property and feature are IRIs, `unit` a QUDT unit IRI or None.

    `lexical` and `datatype` (an XSD IRI) are the result as an RDF literal. `phenomenon_time` is
    the device's own time, aware UTC, or None when the payload carries none. `device_sequence`
    is the device's counter as text, or None.
    """

    sensor: str
    observed_property: str
    feature_of_interest: str
    lexical: str
    datatype: str
    unit: str | None = None
    phenomenon_time: datetime | None = None
    device_sequence: str | None = None

    @property
    def stream(self) -> tuple[str, str, str]:
        """Observations of one stream differ in time only: (sensor, property, feature)."""
        return (self.sensor, self.observed_property, self.feature_of_interest)
