"""docs/grafana against a gateway: each metric, label, route and member that it names is there."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from mkdocs.utils.yaml import yaml_load

from deploy.site.reference.metrics import metrics_page
from tests.kit.gateways import (
    LOOPBACK,
    mapping,
    publish,
    running,
    settings,
    update,
    write_profile,
)
from tests.paths import ROOT

FOLDER = ROOT / "docs" / "grafana"
DASHBOARDS = sorted((FOLDER / "dashboards").glob("*.json"))
ALERTS = FOLDER / "provisioning" / "alerting" / "sosa-gateway.yaml"
LABELS = {"instance", "job", "le"}
"""What Prometheus adds, and what a histogram has."""


def loaded(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text) if path.suffix == ".json" else yaml_load(text)
    return found


def within(value: object) -> Iterator[dict[str, Any]]:
    """Every object of a document, however deep."""
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from within(each)
    elif isinstance(value, list):
        for each in value:
            yield from within(each)


def expressions() -> list[str]:
    documents = [loaded(path) for path in (*DASHBOARDS, ALERTS)]
    return [str(each["expr"]) for doc in documents for each in within(doc) if "expr" in each]


def test_every_metric_is_one_of_a_gateway() -> None:
    known = set(re.findall(r"^\| `(sosa_gateway_\w+)`", metrics_page(), re.MULTILINE))
    known |= {f"{name}_bucket" for name in known}
    named = {name for text in expressions() for name in re.findall(r"sosa_gateway_\w+", text)}
    assert len(named) > 20
    assert named <= known


def test_every_data_source_is_provisioned() -> None:
    provisioned = loaded(FOLDER / "provisioning" / "datasources" / "sosa-gateway.yaml")
    known = {each["uid"]: each["type"] for each in provisioned["datasources"]}
    used = [
        each["datasource"]
        for path in DASHBOARDS
        for each in within(loaded(path))
        if "datasource" in each
    ]
    assert len(used) > 20
    assert {(each["uid"], each["type"]) for each in used} == set(known.items())
    of_rules = {each["datasourceUid"] for each in within(loaded(ALERTS)) if "datasourceUid" in each}
    assert of_rules <= {*known, "__expr__"}


def test_every_rule_ends_in_a_condition_over_a_query_of_its_own() -> None:
    rules = [each for each in within(loaded(ALERTS)) if "condition" in each]
    assert len({each["uid"] for each in rules}) == len(rules) == 3
    for rule in rules:
        by_name = {step["refId"]: step for step in rule["data"]}
        threshold = by_name[rule["condition"]]["model"]
        assert "expr" in by_name[threshold["expression"]]["model"]
        assert all(step["model"]["refId"] == name for name, step in by_name.items())


@asynccontextmanager
async def a_gateway(folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    """With one stream, which has a value, and one alarm."""
    profile = write_profile(folder, [mapping("temperature", "room/+", selector="$.t")])
    async with running(settings(folder, profile)) as gateway:
        await publish(gateway.mqtt_port, [("room/1", b'{"t": 21.5}')])
        graph = "https://sosa-gateway.example/graph/mappings"
        await update(gateway, f"INSERT DATA {{ GRAPH <{graph}> {{ <urn:m> a gw:Mapping }} }}")
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url) as client:
            yield client


def has(row: object, selector: str) -> bool:
    """Whether a row has what a selector names, as the plugin reads it (gjson, "Path Syntax")."""
    for name in selector.split("."):
        try:
            row = row[int(name)] if isinstance(row, list) else row[name]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return False
    return True


async def test_every_route_gives_what_a_panel_shows(tmp_path: Path) -> None:
    queries = [
        each
        for path in DASHBOARDS
        for each in within(loaded(path))
        if "url" in each and "root_selector" in each
    ]
    assert len(queries) == 4
    async with a_gateway(tmp_path) as client:
        stream = (await client.get("/streams")).json()["streams"][0]["id"]
        here = {"${stream}": stream, "${__from}": "0", "${__to}": "4102444800000"}
        for query in queries:
            url = query["url"]
            for name, value in here.items():
                url = url.replace(name, value)
            answer = await client.get(url)
            rows = answer.raise_for_status().json()[query["root_selector"]]
            for column in query["columns"]:
                assert has(rows[0], column["selector"]), (url, column)


async def test_the_labels_of_the_legends_are_those_of_the_metrics(tmp_path: Path) -> None:
    async with a_gateway(tmp_path) as client:
        text = (await client.get("/metrics")).text
    for path in DASHBOARDS:
        for each in within(loaded(path)):
            labels = set(re.findall(r"\{\{(\w+)\}\}", each.get("legendFormat", ""))) - LABELS
            for name in re.findall(r"sosa_gateway_\w+", each.get("expr", "")) if labels else ():
                assert all(re.search(rf"^{name}{{.*\b{one}=", text, re.M) for one in labels), name
