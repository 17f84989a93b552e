"""`python -m bench.readings.publisher SPECIFICATION`: devices that publish, as a process.

Place on the way of the data: before the broker, by real MQTT (3.1.1, QoS 1) with a window of
unacknowledged messages. It says `ready` once connected, waits for a line, publishes its share of
the workload, and says as JSON when it sent what, after everything has been acknowledged.
"""

import json
import sys
from dataclasses import asdict, dataclass
from threading import Event
from time import monotonic, monotonic_ns, process_time, time_ns

from bench.processes import Child, python_child
from bench.readings.device import Device
from bench.readings.workload import Workload


@dataclass(frozen=True, slots=True)
class Publisher:
    """Publisher number `number` of `publishers`; `pace_s` between two readings, 0 for no wait."""

    port: int
    readings: int
    number: int
    publishers: int
    window: int = 100
    pace_s: float = 0.0

    def child(self) -> Child:
        """The process that does it."""
        specification = json.dumps(asdict(self))
        return python_child("publisher", "bench.readings.publisher", specification)

    def publish(self, device: Device) -> dict[str, object]:
        """Send the share; when the first was sent (µs, wall clock) and each (ns, monotonic)."""
        workload = Workload(self.readings)
        sent: dict[int, int] = {}
        first_us, cpu_s = time_ns() // 1000, process_time()
        started = monotonic()
        for number, index in enumerate(workload.share(self.number, self.publishers)):
            if self.pace_s:
                Event().wait(max(0.0, started + number * self.pace_s - monotonic()))
                sent[index] = monotonic_ns()
            device.publish(workload.publication(index))
            if self.pace_s:
                device.flush()
        device.drain()
        return {"first_us": first_us, "sent": sent, "cpu_s": process_time() - cpu_s}


def _main(publisher: Publisher) -> None:
    with Device(publisher.port, f"bench-{publisher.number}", publisher.window) as device:
        _say("ready")
        if sys.stdin.readline():  # else the benchmark is gone
            _say(json.dumps(publisher.publish(device)))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _main(Publisher(**json.loads(sys.argv[1])))
