"""Every metric, from gateways that have each optional part switched on, as /metrics tells it."""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
from prometheus_client import generate_latest

from deploy.site.reference.tables import code, table, words
from gateway.app.gateway import Gateway
from gateway.config.settings import Config
from gateway.federation.watching.measures import federation_measures
from gateway.runtime.metrics import Measures

_HEAD = """\
# Metrics, one by one

Made of what `/metrics` of a gateway tells. [Metrics](../metrics.md) has them by subject; some
are there only while their part is switched on.
"""
_PARTS = (
    {
        "engine": {"performance": True},
        "mqtt": {"port": 0},
        "homeassistant": {"publish": True},
    },
    {"engine": {"workers": 1}, "mqtt": {"mode": "external", "port": 9}},
)
"""Each has metrics that the other has not; nothing has to answer at the external broker's port."""

_FAMILY = re.compile(r"^# HELP (\w+) (.*)\n# TYPE \1 (\w+)", re.MULTILINE)


def metrics_page() -> str:
    """One table by name."""
    found: dict[str, list[str]] = {}
    for text in (*(asyncio.run(_told(parts)) for parts in _PARTS), _of_members()):
        found |= {
            name: [code(name), kind, words(what)] for name, what, kind in _FAMILY.findall(text)
        }
    rows = [found[name] for name in sorted(found)]
    return f"{_HEAD}\n{table(['metric', 'kind', 'what it counts'], rows)}\n"


def _of_members() -> str:
    return generate_latest(Measures(federation_measures(tuple)).registry).decode()


async def _told(parts: Mapping[str, object]) -> str:
    with TemporaryDirectory() as folder:
        async with Gateway(_config(Path(folder), parts)) as gateway, httpx.AsyncClient() as client:
            answer = await client.get(f"http://127.0.0.1:{gateway.http_port}/metrics")
            return answer.raise_for_status().text


def _config(folder: Path, parts: Mapping[str, object]) -> Config:
    return Config.model_validate(
        {
            "gateway": {"data_dir": folder / "data"},
            "store": {"kind": "memory"},
            **parts,
            "http": {"port": 0},
            "websocket": {"port": 0},
            "events": {"log": True},
            "reasoning": {"graphs": ["default"]},
            "shipping": {"to": str(folder / "landing")},
        }
    )
