"""What the gateway has made of the fleet, read as anybody can: journal, store, quarantine.

Place on the way of the data: behind the gateway. Observations are the journal's lines and the rows
of a SPARQL query; absences are the rows of a subscription, with the simulated time of each step;
the quarantine is listed over HTTP.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Any

import httpx

from gateway.demo.fleet.acts import FLUSHED, GATEWAY, UNIT, XSD, Expected, StreamKey
from gateway.demo.fleet.simulated import SimulatedTime
from gateway.demo.fleet.truth import Cleared, Observed, Raised, Series, Wrong
from gateway.engine import Notification
from gateway.journal import Record, read_journal
from gateway.rdf.namespaces import GW
from gateway.rdf.solutions import Row

ACCEPTED_S = 60.0
STORE_QUERY = """\
PREFIX sosa: <http://www.w3.org/ns/sosa/>  PREFIX qudt: <http://qudt.org/schema/qudt/>
PREFIX gw: <https://sosa-gateway.example/ns#>
SELECT ?sensor ?property ?feature ?result ?unit ?time ?ingested ?source ?suspect {
  ?o sosa:madeBySensor ?sensor ; sosa:observedProperty ?property ;
     sosa:hasFeatureOfInterest ?feature ; sosa:hasSimpleResult ?result ;
     sosa:resultTime ?time ; gw:ingestedAt ?ingested ; gw:timeSource ?source .
  OPTIONAL { ?o sosa:hasResult ?node . ?node qudt:hasUnit ?unit }
  OPTIONAL { ?o gw:clockSuspect ?suspect }
}"""
SERIES_QUERY = """\
PREFIX qudt: <http://qudt.org/schema/qudt/>  PREFIX gw: <https://sosa-gateway.example/ns#>
SELECT ?sensor ?property ?feature ?unit ?began ?ended ?next {
  ?series a gw:Series ; gw:ofStream ?stream ; qudt:hasUnit ?unit .
  ?stream gw:ofSensor ?sensor ; gw:ofProperty ?property ; gw:ofFeature ?feature .
  OPTIONAL { ?series gw:seriesBegan ?began } OPTIONAL { ?series gw:seriesEnded ?ended }
  OPTIONAL { ?series gw:nextSeries ?after . ?after qudt:hasUnit ?next }
}"""
ACCEPTED_QUERY = """\
PREFIX gw: <https://sosa-gateway.example/ns#>
SELECT (COUNT(DISTINCT ?mapping) AS ?count) {
  GRAPH <https://sosa-gateway.example/graph/mappings> { ?mapping a gw:Mapping }
  GRAPH <https://sosa-gateway.example/graph/proposals> { ?mapping a gw:Proposal } }"""
ABSENT_QUERY = """\
PREFIX gw: <https://sosa-gateway.example/ns#>
SELECT ?sensor ?property ?feature ?since ?reason {
  ?stream gw:absentSince ?since ; gw:absenceReason ?reason ;
     gw:ofSensor ?sensor ; gw:ofProperty ?property ; gw:ofFeature ?feature }"""


@dataclass(frozen=True, slots=True)
class Stored:
    """What the store says of an observation; `result` is its canonical form."""

    stream: StreamKey
    result: str
    unit: str
    time: datetime
    ingested_at: datetime
    source: str
    suspect: bool


def journalled(folder: Path) -> Iterator[Observed]:
    """The observations in the journal below `folder`."""
    for record in read_journal(folder):
        if record.observation.stream != FLUSHED:
            yield _observed(record)


def _observed(record: Record) -> Observed:
    seen = record.observation
    how = seen.circumstances
    expected = Expected(
        seen.stream,
        "",
        seen.lexical,
        seen.datatype.removeprefix(XSD),
        None if seen.unit is None else seen.unit.removeprefix(UNIT),
        seen.phenomenon_time,
        GATEWAY if seen.phenomenon_time is None else how.time_source.value,
        record.clock_suspect,
        how.historical,
    )
    return Observed(expected, record.ingested_at)


async def stored(http_port: int) -> list[Stored]:
    """The observations that a client of the SPARQL endpoint gets. Raises httpx.HTTPError."""
    found = [_stored(row) for row in await _rows(http_port, STORE_QUERY)]
    return [each for each in found if each.stream != FLUSHED]


async def series(http_port: int) -> list[Series]:
    """The series of streams whose unit has changed. Raises httpx.HTTPError."""
    return [_series(row) for row in await _rows(http_port, SERIES_QUERY)]


async def until_accepted(http_port: int, count: int) -> None:
    """Wait until so many proposals are mappings, a while at most: the comparison tells if not."""
    end = monotonic() + ACCEPTED_S
    while monotonic() < end:
        [row] = await _rows(http_port, ACCEPTED_QUERY)
        if int(row["count"]) >= count:
            return
        await asyncio.sleep(0.1)


async def _rows(http_port: int, query: str) -> list[dict[str, str]]:
    async with httpx.AsyncClient(timeout=120) as client:
        answer = await client.post(
            f"http://127.0.0.1:{http_port}/query",
            data={"query": query},
            headers={"Accept": "application/sparql-results+json"},
        )
    answer.raise_for_status()
    rows = answer.json()["results"]["bindings"]
    return [{name: term["value"] for name, term in row.items()} for row in rows]


def _series(row: dict[str, str]) -> Series:
    began, ended = (row.get(name) for name in ("began", "ended"))
    return Series(
        (row["sensor"], row["property"], row["feature"]),
        row["unit"].removeprefix(UNIT),
        None if began is None else datetime.fromisoformat(began),
        None if ended is None else datetime.fromisoformat(ended),
        row.get("next", "").removeprefix(UNIT),
    )


def _stored(row: dict[str, str]) -> Stored:
    return Stored(
        (row["sensor"], row["property"], row["feature"]),
        row["result"],
        row.get("unit", "").removeprefix(UNIT),
        datetime.fromisoformat(row["time"]),
        datetime.fromisoformat(row["ingested"]),
        row["source"].removeprefix(GW),
        row.get("suspect") == "true",
    )


class AbsenceLog:
    """A sink of the absences' subscription: what was raised and cleared, and when."""

    def __init__(self, time: SimulatedTime) -> None:
        self.events: list[Raised | Cleared] = []
        self._time = time

    def __call__(self, notification: Notification) -> None:
        """In the scheduler's thread; simulated time stands still until it has settled."""
        now = self._time.now
        if not notification.sequence:  # what was absent before; the truth knows that too
            return
        for row in notification.results.added:
            *stream, since, reason = _texts(row)
            when = datetime.fromisoformat(since)
            self.events.append(Raised(_key(stream), when, reason.removeprefix(GW), now))
        for row in notification.results.removed:
            self.events.append(Cleared(_key(_texts(row)[:3]), now))


async def quarantined(http_port: int) -> list[Wrong]:
    """The quarantine in the form of `Truth.wrong`, read page by page. Raises httpx.HTTPError."""
    found: list[Wrong] = []
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{http_port}", timeout=120) as client:
        page: dict[str, str] = {"limit": "1000"}
        while True:
            answer = await client.get("/quarantine", params=page)
            answer.raise_for_status()
            listed = answer.json()
            found += [each for entry in listed["entries"] for each in _wrong(entry)]
            if not listed["next"]:
                return found
            page["before"] = listed["next"]


def _wrong(entry: dict[str, Any]) -> Iterator[Wrong]:
    received = datetime.fromisoformat(entry["received_at"])
    for fault in entry["faults"]:
        yield received, entry["topic"], fault["reason"], entry["payload_bytes"]


def _texts(row: Row) -> list[str]:
    return [getattr(term, "value", "") for term in row]


def _key(texts: list[str]) -> StreamKey:
    sensor, observed_property, feature = texts
    return sensor, observed_property, feature
