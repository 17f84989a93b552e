"""The part of `bench homeassistant` that is one reading's own: from the store to what is retained.

Place on the way of the data: behind the store, in one thread, up to the embedded broker, to which
nobody is subscribed. The readings are there before; what is timed is what the publisher does.
"""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from statistics import median
from time import process_time

from adapters.values.message import Message
from adapters.values.observation import Observation, StreamKey
from bench.report import Experiment, Figure, digest
from gateway.exchange.homeassistant.board import Board
from gateway.exchange.homeassistant.entity import Described, Entity, State
from gateway.exchange.homeassistant.readings import Readings, reading_of
from gateway.exchange.homeassistant.states import Form, Kind
from gateway.exchange.homeassistant.topics import Topics
from gateway.gates.mqtt.embedded.announcing import EmbeddedCarrier
from gateway.gates.mqtt.embedded.broker import EmbeddedBroker
from gateway.gates.mqtt.embedded.settings import BrokerSettings
from gateway.journal import Position, Record
from gateway.rdf.namespaces import UNIT, XSD

_TURNS, _EACH, _TOGETHER = 10, 4_000, 50
_NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)

Spent = tuple[float, float, float]
"""CPU seconds to note, to take and to tell the readings of a turn."""


def measure(streams: int) -> Iterator[Experiment]:
    """Each state told, then one a second at most."""
    for interval_s in (0.0, 1.0):
        yield asyncio.run(_measured(streams, interval_s))


async def _measured(streams: int, interval_s: float) -> Experiment:
    keys = [(f"urn:s{number}", "urn:p", f"urn:f{number}") for number in range(streams)]
    topics = Topics("homeassistant", "sosa-gateway", "bench")
    ids = {key: topics.entity("\n".join(key)) for key in keys}
    form = Form(Kind.NUMBER, UNIT + "DEG_C")
    entities = {id_: Entity(id_, "sensor", {"name": "bench"}, form) for id_ in ids.values()}
    board = Board(topics, interval_s)
    list(board.adopt(Described(entities, dict.fromkeys(entities, State()))))
    readings = Readings(lambda: None)
    readings.listen(dict.fromkeys(keys, False), dict.fromkeys(keys, _NOON))
    spent: list[Spent] = []
    async with EmbeddedBroker(BrokerSettings(port=0), _accept, None) as broker:
        carrier = EmbeddedCarrier(broker)
        for turn in range(_TURNS):
            records = [_record(keys, turn * _EACH + number) for number in range(_EACH)]
            spent.append(await _turn(records, readings, board, carrier, ids))
        retained = broker.statistics.retained
    parts = [median(each) / _EACH * 1e6 for each in zip(*spent, strict=True)]
    return Experiment(
        f"homeassistant, a reading by itself, a state each {interval_s:g} s at most",
        (
            Figure("noted", parts[0], "µs/reading", "in the thread that stores"),
            Figure("taken up", parts[1], "µs/reading"),
            Figure("told and retained", parts[2], "µs/reading", "nobody subscribes"),
            Figure("all", sum(parts), "µs/reading", "CPU, median of the turns; 20 wanted"),
        ),
        digest([str(retained)]),
        digest([str(streams)]),
        (f"{_TURNS} turns of {_EACH} readings of {streams} streams, {_TOGETHER} at a time",),
    )


async def _turn(
    records: Sequence[Record],
    readings: Readings,
    board: Board,
    carrier: EmbeddedCarrier,
    ids: dict[StreamKey, str],
) -> Spent:
    noted = taken = told = 0.0
    for first in range(0, len(records), _TOGETHER):
        began = process_time()
        for record in records[first : first + _TOGETHER]:
            readings.stored((record,))
        noted, began = noted + process_time() - began, process_time()
        newest, _ = readings.take()
        for stream, record in newest.items():
            board.read(ids[stream], *reading_of(record), is_alive=True)
        taken, began = taken + process_time() - began, process_time()
        for out in board.due():
            await carrier.send(out)
        told += process_time() - began
    return noted, taken, told


def _record(keys: Sequence[StreamKey], number: int) -> Record:
    stream = keys[number % len(keys)]
    seen = Observation(*stream, f"{number}.5", XSD + "decimal", UNIT + "DEG_C")
    return Record(Position(1, number + 1), number + 1, seen, _NOON + timedelta(seconds=number))


async def _accept(_message: Message) -> None:
    """Nobody publishes."""
