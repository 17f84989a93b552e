"""`Service`: the gateway of a benchmark as a process, and what it counts.

Place on the way of the data: what is measured. The store is on disk and the journal is fsynced, as
in every gateway; the ports are any free ones.
"""

import json
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic

from bench.processes import START_TIMEOUT_S, Child, ChildFailedError, python_child
from bench.readings.workload import write_profile
from gateway.config.settings import (
    SHIPPED_PROFILES,
    Config,
    GatewaySettings,
    HttpSettings,
    JsapSettings,
    LogSettings,
    MqttSettings,
    WebSocketSettings,
)

_STALL_S = 30.0
_POLL_S = 0.2
_PREFIX = "sosa_gateway_"


@dataclass(frozen=True, slots=True)
class Service:
    """A gateway that runs."""

    child: Child
    mqtt_port: int
    http_url: str
    subscribe_url: str

    def counters(self) -> Mapping[str, float]:
        """The metrics without labels, by name without prefix and `_total`."""
        # http on loopback, from running_service
        with urllib.request.urlopen(f"{self.http_url}/metrics", timeout=_STALL_S) as answer:  # noqa: S310
            lines = answer.read().decode().splitlines()
        pairs = (line.split(" ") for line in lines if line.startswith(_PREFIX) and "{" not in line)
        return {
            name.removeprefix(_PREFIX).removesuffix("_total"): float(number)
            for name, number in pairs
        }

    def wait_until(self, name: str, count: float) -> Mapping[str, float]:
        """Wait until a counter is as high as `count`; raises ChildFailedError when it stands."""
        seen, since = -1.0, monotonic()
        while True:
            counters = self.counters()
            if counters[name] >= count:
                return counters
            if counters[name] > seen:
                seen, since = counters[name], monotonic()
            elif monotonic() - since > _STALL_S:
                raise ChildFailedError(f"{name} stands at {seen:g} of {count:g}")
            Event().wait(_POLL_S)


def service_config(folder: Path, broker_port: int | None) -> Config:
    """A gateway for one benchmark; `broker_port` is that of an external broker."""
    mqtt = (
        MqttSettings(port=0)
        if broker_port is None
        else MqttSettings(mode="external", port=broker_port)
    )
    return Config(
        gateway=GatewaySettings(id="bench", data_dir=folder / "data"),
        mqtt=mqtt,
        http=HttpSettings(port=0),
        websocket=WebSocketSettings(port=0),
        jsap=JsapSettings(profiles=(SHIPPED_PROFILES / "observations.jsap", write_profile(folder))),
        log=LogSettings(format="json"),
    )


@contextmanager
def running_service(
    config: Config, start_s: float = START_TIMEOUT_S, within: Sequence[str] = ()
) -> Iterator[Service]:
    """A gateway for as long as the context; `start_s` is how long it may take to start.

    `within` is a command that becomes the one behind it.
    """
    specification = config.model_dump_json()
    with python_child("gateway", "bench.readings.serve", specification, within) as child:
        serving = json.loads(child.wait_for('"serving"', start_s))
        yield Service(
            child,
            serving["mqtt_port"],
            f"http://127.0.0.1:{serving['http_port']}",
            f"ws://127.0.0.1:{serving['websocket_port']}/subscribe",
        )
