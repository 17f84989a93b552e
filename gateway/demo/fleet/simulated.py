"""The clocks and the configuration of a gateway that lives in simulated time.

Place on the way of the data: beside the gateway. Its wall clock and its steady clock are one number
that the simulation moves on; everything else is the gateway as it ships.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gateway.demo.fleet.acts import FLUSH, FLUSHED
from gateway.demo.fleet.device import Device
from gateway.runtime.clocks import Clocks

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


class SimulatedTime:
    """Stands still until it is moved on."""

    def __init__(self) -> None:
        self.elapsed_s = 0

    @property
    def now(self) -> datetime:
        """The time of day."""
        return START + timedelta(seconds=self.elapsed_s)

    @property
    def clocks(self) -> Clocks:
        """The simulation's clocks, for the gateway."""
        return Clocks(lambda: self.now, lambda: float(self.elapsed_s))


def write_profile(fleet: Iterable[Device], folder: Path) -> Path:
    """A JSAP profile with the mappings of all devices."""
    sensor, observed_property, feature = FLUSHED
    flush: dict[str, str | float] = {
        "id": f"{sensor}:mapping",
        "topic": FLUSH,
        "format": "scalar",
        "sensor": sensor,
        "property": observed_property,
        "feature": feature,
    }
    mappings = [flush, *(each for device in fleet for each in device.mappings())]
    by_id = {mapping["id"]: mapping for mapping in mappings}
    document: dict[str, Any] = {
        "host": "127.0.0.1",
        "namespaces": {},
        "queries": {},
        "updates": {},
        "extended": {"mappings": list(by_id.values())},
    }
    path = folder / "fleet.jsap"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


_CAPABILITIES = """\
PREFIX gw: <https://sosa-gateway.example/ns#>  PREFIX ssn: <http://www.w3.org/ns/ssn/>
PREFIX ssn-system: <http://www.w3.org/ns/ssn/systems/>  PREFIX schema: <https://schema.org/>
INSERT DATA {
%s
}"""


def capabilities_update(fleet: Sequence[Device]) -> str:
    """What the sensors can measure, as an UPDATE; empty where nothing is known of any."""
    known = [each for device in fleet for each in device.capabilities()]
    lines = [
        f"<{sensor}> ssn-system:hasSystemCapability <{sensor}:can> ."
        f" <{sensor}:can> ssn:forProperty <{observed_property}> ;"
        f" ssn-system:hasSystemProperty <{sensor}:range> . <{sensor}:range> {values} ."
        for (sensor, observed_property, _), values in known
    ]
    return _CAPABILITIES % "\n".join(lines) if lines else ""
