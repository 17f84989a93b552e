"""A gateway over whose observations somebody has windows, with a clock that is moved by hand."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gateway.app.gateway import Gateway
from gateway.config.settings import Config, WindowsSettings
from gateway.engine import SubscribeRequest
from gateway.errors import GatewayError
from gateway.rdf.namespaces import OBSERVATIONS
from gateway.runtime.clocks import Clocks
from gateway.windows import Window
from tests.kit.gateways import PREFIXES, Watch, mapping, publish, settings, text, write_profile

LAST = "urn:my:last10"
TEMPERATURE, OCCUPANCY = "urn:property:t", "urn:property:o"
MAPPED = (
    mapping("t", "room/+/t", format="json", selector="$.v", time="$.at"),
    mapping("o", "room/+/o", format="json", selector="$.v", time="$.at"),
)
STUFFY = f"""{PREFIXES}
SELECT ?room (AVG(?value) AS ?mean) {{
  GRAPH <{LAST}> {{ ?o sosa:hasFeatureOfInterest ?room ; sosa:hasSimpleResult ?value }}
  FILTER NOT EXISTS {{
    ?p sosa:hasFeatureOfInterest ?room ; sosa:observedProperty <{OCCUPANCY}> ;
       sosa:hasSimpleResult true
  }}
}} GROUP BY ?room HAVING (AVG(?value) > 30)"""
ALL = f"{PREFIXES}SELECT ?value {{ GRAPH <{LAST}> {{ ?o sosa:hasSimpleResult ?value }} }}"


def last(range_: str = "PT10M", **members: object) -> Mapping[str, Window]:
    """The window that the queries name."""
    return {LAST: Window(OBSERVATIONS, range=range_, **members)}  # type: ignore[arg-type]


class Hand:
    """Both clocks of a gateway: they stand until they are moved."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)
        self.seconds = 0.0

    @property
    def clocks(self) -> Clocks:
        return Clocks(lambda: self.now, lambda: self.seconds)

    def ago(self, seconds: float) -> str:
        """A time before now as devices write it."""
        return (self.now - timedelta(seconds=seconds)).isoformat()


class Windowed:
    """A running gateway, its clock and its devices."""

    def __init__(self, gateway: Gateway, hand: Hand) -> None:
        self.gateway = gateway
        self.hand = hand
        self.ended: list[GatewayError] = []

    async def watch(
        self,
        query: str,
        windows: Mapping[str, Window] | None = None,
        output: str = "changes",
    ) -> Watch:
        """A new subscription; its first answer has come."""
        told = Watch()
        request = SubscribeRequest(
            query, windows=tuple(sorted((windows or {}).items())), output=output
        )
        await self.gateway.scheduler.subscribe(request, sink=told, ended=self.ended.append)
        return told

    async def tell(self, room: str, what: str, value: object, before_s: float = 0.0) -> None:
        """A reading of so many seconds ago, which is in the store when this returns."""
        payload = json.dumps({"v": value, "at": self.hand.ago(before_s)}).encode()
        await publish(self.gateway.mqtt_port, [(f"room/{room}/{what}", payload)])

    async def pass_(self, seconds: float) -> None:
        """Let time go on, and have it noticed."""
        self.hand.now += timedelta(seconds=seconds)
        self.hand.seconds += seconds
        await self.gateway.scheduler.settled()


@asynccontextmanager
async def windowed(
    folder: Path,
    mappings: Sequence[dict[str, object]] = MAPPED,
    hand: Hand | None = None,
    kind: str = "memory",
    windows: Sequence[dict[str, object]] = (),
) -> AsyncIterator[Windowed]:
    """A gateway on a folder, which may start there again."""
    hand = hand or Hand()
    config = windowed_settings(folder, mappings, kind, windows)
    async with Gateway(config, hand.clocks) as gateway:
        store = gateway.scheduler.engine.store
        yield Windowed(gateway, hand)
    vars(store).clear()


def windowed_settings(
    folder: Path,
    mappings: Sequence[dict[str, object]] = MAPPED,
    kind: str = "memory",
    windows: Sequence[dict[str, object]] = (),
) -> Config:
    """The settings of such a gateway, which looks at time as often as it may."""
    config = settings(folder, write_profile(folder, mappings, windows=windows), kind=kind)
    return config.model_copy(update={"windows": WindowsSettings(tick_ms=10)})


def answer(told: Watch) -> Counter[tuple[str, ...]]:
    """What a subscriber has been told, as texts."""
    return Counter({tuple(map(text, row)): n for row, n in told.answer.items()})
