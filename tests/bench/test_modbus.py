"""The benchmark of Modbus, small: what is read arrives."""

import json

from bench.modbus.modbus import REGISTERS, _reading
from bench.processes import python_child


def test_registers_are_read_each_second() -> None:
    plan = json.dumps({"devices": 2, "registers": REGISTERS})
    with python_child("devices", "bench.modbus.devices", plan) as child:
        ports = json.loads(child.wait_for('"ports"', 60.0))["ports"]
        experiment = _reading(ports, 2)
    figures = {figure.name: figure.value for figure in experiment.figures}
    assert figures["observations"] > 0
    assert len(ports) == 2
