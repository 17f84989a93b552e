"""docs/grafana asked of a real Prometheus, which reads a real gateway: each panel has an answer.

What Grafana adds is to draw it. The test is skipped where no Prometheus is installed.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.deploy.test_grafana import ALERTS, DASHBOARDS, FOLDER, loaded, within
from tests.kit.blocks import START_S, Ports, gateway_process
from tests.kit.gateways import LOOPBACK, Program, free_port, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.end_to_end, pytest.mark.timeout(600)]

BROKEN = """PREFIX gw: <https://sosa-gateway.example/ns#>
INSERT DATA { GRAPH <https://sosa-gateway.example/graph/mappings> { <urn:m> a gw:Mapping } }"""
HERE = {"$__rate_interval": "10s", "$instance": ".*"}
"""What Grafana puts in the place of its variables; the first is four scrapes at least."""

COMPARED = {"gt": lambda value, limit: value > limit, "lt": lambda value, limit: value < limit}
Series = list[tuple[dict[str, str], float]]


@dataclass(frozen=True)
class Prometheus:
    """One that runs, and reads every second."""

    url: str

    def ask(self, expression: str) -> Series:
        """The answer now; fails where the expression is none of PromQL."""
        for name, value in HERE.items():
            expression = expression.replace(name, value)
        answer = httpx.get(f"{self.url}/api/v1/query", params={"query": expression}, timeout=60)
        told = answer.json()
        assert told["status"] == "success", (expression, told)
        return [(each["metric"], float(each["value"][1])) for each in told["data"]["result"]]


@contextmanager
def prometheus(folder: Path, http: int) -> Iterator[Prometheus]:
    """By the configuration of docs/grafana, but for the port and the pace."""
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("no prometheus (apt-get install prometheus)")
    text = (FOLDER / "prometheus" / "prometheus.yml").read_text(encoding="utf-8")
    changed = text.replace("127.0.0.1:8000", f"{LOOPBACK}:{http}").replace(": 15s", ": 1s")
    assert len(re.findall(rf"{LOOPBACK}:{http}|: 1s", changed)) == 2
    configuration = folder / "prometheus.yml"
    configuration.write_text(changed, encoding="utf-8")
    address = f"{LOOPBACK}:{free_port()}"
    with Program(
        program,
        f"--config.file={configuration}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address={address}",
    ) as running:
        running.wait_for("Server is ready", START_S)
        yield Prometheus(f"http://{address}")


def rules() -> Iterator[tuple[str, str, str, float]]:
    """The uid of each alert rule, its query, how its value is compared, and with what."""
    for rule in within(loaded(ALERTS)):
        if "condition" in rule:
            by_name = {step["refId"]: step["model"] for step in rule["data"]}
            threshold = by_name[rule["condition"]]
            compared = threshold["conditions"][0]["evaluator"]
            expression = by_name[threshold["expression"]]["expr"]
            yield rule["uid"], expression, compared["type"], float(compared["params"][0])


def firing(asked: Prometheus) -> dict[str, list[dict[str, str]]]:
    """Of each alert rule the series for which it would fire now."""
    return {
        uid: [labels for labels, value in asked.ask(query) if COMPARED[kind](value, limit)]
        for uid, query, kind, limit in rules()
    }


def panels() -> list[tuple[str, list[str]]]:
    """The expression of each query of a panel, and the labels that its legend shows."""
    return [
        (str(each["expr"]), re.findall(r"\{\{(\w+)\}\}", each["legendFormat"]))
        for path in DASHBOARDS
        for each in within(loaded(path))
        if "expr" in each
    ]


def all_is_drawn(asked: Prometheus) -> bool:
    return all(asked.ask(expression) for expression, _ in panels())


def test_a_prometheus_answers_every_panel_and_alerts_as_the_rules_say(tmp_path: Path) -> None:
    ports = Ports(free_port(), free_port(), free_port())
    with prometheus(tmp_path, ports.http) as asked:
        with gateway_process(tmp_path, ports, ("demo", "--plain")):
            url = f"http://{LOOPBACK}:{ports.http}/update"
            httpx.post(url, data={"update": BROKEN}).raise_for_status()
            wait_until(lambda: all_is_drawn(asked), START_S)
            for expression, labels in panels():
                assert all(label in found for found, _ in asked.ask(expression) for label in labels)
            instances = asked.ask("group by (instance) (sosa_gateway_updates_total)")
            assert [found["instance"] for found, _ in instances] == [f"{LOOPBACK}:{ports.http}"]
            alarms = {found["kind"] for found in firing(asked)["sosa-gateway-alarm"]}
            assert "broken_mapping" in alarms
            assert not firing(asked)["sosa-gateway-silent"]
            assert not firing(asked)["sosa-gateway-nothing"]
        wait_until(lambda: bool(firing(asked)["sosa-gateway-silent"]), START_S)
