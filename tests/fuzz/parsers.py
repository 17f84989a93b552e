"""Each parser that meets the network: how it is asked, and what it may raise.

Modules are loaded by the parser that needs them: a process feeds few of them.
"""

import asyncio
import hashlib
import logging
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gateway.errors import GatewayError
from jsap.errors import JsapError
from tests.fuzz import tokens

Run = Callable[[bytes], object]
"""Parses an input; gives something of few values."""


@dataclass(frozen=True, slots=True)
class Parser:
    """`open` makes ready what parses; what is raised beside `documented` is a finding."""

    open: Callable[[], AbstractContextManager[Run]]
    documented: tuple[type[Exception], ...] = ()
    tokens: tuple[bytes, ...] = ()


class _LoggedError(logging.Handler):
    """What is logged as an error while somebody else answers: a finding."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(self.format(record))

    def require_none(self) -> None:
        told, self.told = self.told, []
        if told:
            raise AssertionError(told[0])


@contextmanager
def _served(
    serving: Callable[[Callable[[int], None]], Coroutine[None, None, None]],
) -> Iterator[Callable[[bytes, bytes], int]]:
    """Something that listens; gives a function that sends bytes to it until both sides end."""
    errors = _LoggedError()
    logging.getLogger().addHandler(errors)
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        loop.set_exception_handler(lambda _, context: errors.told.append(str(context)))
        ready: asyncio.Future[int] = loop.create_future()
        task = loop.create_task(serving(ready.set_result))
        port = loop.run_until_complete(ready)

        def run(head: bytes, data: bytes) -> int:
            answered: int = loop.run_until_complete(_converse(port, head, data))
            errors.require_none()
            return answered.bit_length()

        try:
            yield run
        finally:
            task.cancel()
            loop.run_until_complete(asyncio.wait({task}))


async def _converse(port: int, head: bytes, data: bytes) -> int:
    """The number of bytes that came back before the other side closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(10.0):
            if head:
                writer.write(head)
                await reader.readuntil(b"\r\n\r\n")
            writer.write(data)
            writer.write_eof()
            return len(await reader.read(-1))
    except ConnectionError:
        return 0
    finally:
        writer.transport.abort()


@contextmanager
def _mqtt() -> Iterator[Run]:
    from gateway.gates.mqtt.embedded.broker import BrokerSettings, EmbeddedBroker

    async def accept(_: object) -> None:
        return

    async def serving(ready: Callable[[int], None]) -> None:
        async with EmbeddedBroker(BrokerSettings(port=0), accept, None) as broker:
            ready(broker.port)
            await asyncio.Event().wait()

    with _served(serving) as send:
        yield lambda data: send(b"", data)


_MOST = 1 << 26
_UPGRADE = (
    b"GET /subscribe HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


@contextmanager
def _websocket() -> Iterator[Run]:
    from gateway.engine import Engine
    from gateway.gates.http.operations import application, serve
    from gateway.gates.subscriptions.subscribers import Subscribers
    from gateway.gates.subscriptions.websocket import WebSocketGate
    from gateway.runtime.loop_calls import LoopCalls
    from gateway.scheduler.scheduler import Scheduler

    async def serving(ready: Callable[[int], None]) -> None:
        with Scheduler(Engine.open()) as scheduler:
            calls = LoopCalls(asyncio.get_running_loop())
            async with Subscribers(scheduler, calls) as subscribers:
                routes = WebSocketGate(subscribers).routes()
                async with serve(application(routes), "127.0.0.1", 0) as address:
                    ready(address.port)
                    await asyncio.Event().wait()

    with _served(serving) as send:
        yield lambda data: send(_UPGRADE, data)


def _document(media_type: str) -> Callable[[], AbstractContextManager[Run]]:
    """What the process for documents does, here: so that what ends it is a finding."""

    @contextmanager
    def opened() -> Iterator[Run]:
        from pyoxigraph import RdfFormat

        from gateway.rdf.document_form import require_form
        from gateway.rdf.document_process import ParseRequest, parsed
        from gateway.rdf.documents import DocumentLimits

        form = RdfFormat.from_media_type(media_type)
        assert form is not None
        depth = DocumentLimits().depth

        def run(data: bytes) -> int:
            require_form(data, form, depth)
            return len(
                parsed(ParseRequest(data, media_type, "http://h/", 10_000, 1 << 20))
            ).bit_length()

        yield run

    return opened


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


@contextmanager
def _sensorthings() -> Iterator[Run]:
    """A path and its options; what is read is written and read again as the same."""
    from gateway.exchange.sensorthings.model import set_named
    from gateway.exchange.sensorthings.translation import Asked, question
    from gateway.exchange.sensorthings.url.options_parser import parse_options
    from gateway.exchange.sensorthings.url.resource_path import parse_resource_path
    from gateway.exchange.sensorthings.url.writing import written

    def run(data: bytes) -> object:
        path, _, query = _text(data).partition("?")
        of = parse_resource_path(path).segments[0].name
        options = parse_options(query)
        assert parse_options(written(options)) == options
        return question(Asked(set_named(of), options.filter, options.order_by, "urn:o/")).keys

    yield run


@contextmanager
def _query() -> Iterator[Run]:
    from gateway.engine import Engine

    engine = Engine.open()
    engine.update(
        "INSERT DATA { <urn:a> <urn:p> 1 , 'x'@en . GRAPH <urn:g> { <urn:b> a <urn:C> } }"
    )

    def run(data: bytes) -> object:
        text = _text(data)
        engine.query(text)
        return engine.explain(text).tier

    yield run


@contextmanager
def _update() -> Iterator[Run]:
    from gateway.engine import Engine

    def run(data: bytes) -> object:
        engine = Engine.open()
        engine.update("INSERT DATA { <urn:a> <urn:p> 1 . <urn:b> <urn:p> 2 }")
        return len(engine.update(_text(data)).delta.added).bit_length()

    yield run


@contextmanager
def _jsap() -> Iterator[Run]:
    from gateway.admin.profile_checks import template_findings
    from jsap.profile import Profile

    def run(data: bytes) -> object:
        profile = Profile.parse(_text(data))
        return len(list(template_findings(profile))).bit_length(), len(profile.warnings)

    yield run


@contextmanager
def _path() -> Iterator[Run]:
    from adapters.documents.json_query import Condition, Query, plain
    from adapters.values.payload import parse_json

    document: Any = parse_json(
        '{"a": [{"id": "x", "v": 1.50}, [true, null, {"b": "aab"}]], "b": -3}'
    )
    compared: Any = plain(document)

    def run(data: bytes) -> object:
        text = _text(data)
        kinds: tuple[Callable[[str], object], ...] = (
            lambda text: type(Query.compile(text).find_all(document, compared)),
            lambda text: Condition.compile(text).holds(compared),
        )
        told: list[object] = []
        for kind in kinds:
            try:
                told.append(kind(text))
            except ValueError:
                told.append("refused")
        return told

    yield run


def _payload(
    format_: str, topics: tuple[str, ...], selectors: tuple[str, ...]
) -> Callable[[], AbstractContextManager[Run]]:
    @contextmanager
    def opened() -> Iterator[Run]:
        from datetime import UTC, datetime

        from adapters.registry import Registry
        from adapters.values.mapping import Mapping as DeviceMapping
        from adapters.values.message import Message

        mappings = [
            DeviceMapping(f"urn:m{n}", topic, format_, "urn:s", "urn:p", "urn:f", selector)
            for n, (topic, selector) in enumerate(
                (topic, selector) for topic in topics for selector in selectors
            )
        ]
        now = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)

        def run(data: bytes) -> object:
            registry, errors = Registry.compile(mappings)
            assert not errors
            found = [registry.decode(Message(topic, data, now)) for topic in topics]
            return [
                (len(each.observations).bit_length(), {str(fault.reason) for fault in each.faults})
                for each in found
            ]

        yield run

    return opened


@contextmanager
def _modbus_frames() -> Iterator[Run]:
    """What a peer sends in the place of an answer, over TCP and on a serial line."""
    from gateway.config.modbus import BusSettings
    from gateway.gates.modbus.line import Line

    with asyncio.Runner() as runner:

        async def made() -> list[Any]:
            buses = (BusSettings(name="t", host="h"), BusSettings(name="r", device="/dev/null"))
            return [Line(bus)._made() for bus in buses]

        clients = runner.run(made())

        def run(data: bytes) -> object:
            told: list[object] = []
            for client in clients:
                line = client.ctx
                line.recv_buffer, line.request_dev_id, line.request_transaction_id = b"", 1, 1
                line.response_future = runner.get_loop().create_future()
                for at in range(0, len(data), 64):
                    line.datagram_received(data[at : at + 64], None)
                answer = line.response_future.result() if line.response_future.done() else None
                told.append(None if answer is None else answer.isError())
                assert len(line.recv_buffer) <= 1024
            return told

        yield run


@contextmanager
def _segment() -> Iterator[Run]:
    from gateway.gates.collector.received import place_of_received
    from gateway.journal.names import SegmentName, raw_path
    from gateway.journal.record import Position
    from gateway.journal.sealing import inspect
    from gateway.journal.segment import read_segment
    from spark_batch.segment import Fault, check, examine
    from spark_batch.segment import SegmentName as ArchivedName

    logging.getLogger("gateway.journal.segment").disabled = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def outcome(act: Callable[[], object], *documented: type[Exception]) -> str:
            try:
                return str(act())[:20]
            except documented as error:
                return f"{type(error).__name__} {str(error)[:20]}"

        def run(data: bytes) -> object:
            digest = hashlib.sha256(data).hexdigest()[:12]
            path = folder / f"kitchen-1795276800-000000000001-2-{digest}.jsonl.gz"
            path.write_bytes(data)
            raw = raw_path(folder, Position(1795276800, 1))
            raw.write_bytes(data)
            archived = ArchivedName.parse(path.name)
            told = path, SegmentName.parse(path.name), digest
            try:
                with path.open("rb") as one, path.open("rb") as other:
                    return (
                        outcome(lambda: inspect(path).count, ValueError),
                        len(list(read_segment(path))),
                        len(list(read_segment(raw))),
                        outcome(lambda: check(archived, one), Fault),
                        outcome(lambda: examine(archived, other), Fault),
                        outcome(partial(place_of_received, *told, _MOST), GatewayError),
                    )
            finally:
                path.unlink()
                raw.unlink()

        yield run


_RUUVI = ("temperature", "voc", "luminosity", "sound_peak", "mac", "sequence")
_SPARKPLUG = ("spBv1.0/g/NBIRTH/e", "spBv1.0/g/DBIRTH/e/d", "spBv1.0/g/DDATA/e/d")

PARSERS: Mapping[str, Parser] = {
    "mqtt": Parser(_mqtt, tokens=tokens.PACKETS),
    "websocket": Parser(_websocket, tokens=tokens.FRAMES),
    "turtle": Parser(_document("text/turtle"), (GatewayError,), tokens.RDF),
    "n-quads": Parser(_document("application/n-quads"), (GatewayError,), tokens.RDF),
    "json-ld": Parser(_document("application/ld+json"), (GatewayError,), tokens.JSON),
    "rdf-xml": Parser(_document("application/rdf+xml"), (GatewayError,), tokens.XML),
    "sparql-query": Parser(_query, (GatewayError,), tokens.SPARQL),
    "sparql-update": Parser(_update, (GatewayError,), tokens.SPARQL),
    "sensorthings": Parser(_sensorthings, (GatewayError,), tokens.SENSORTHINGS),
    "jsap": Parser(_jsap, (JsapError,), tokens.PROFILE),
    "json-path": Parser(_path, tokens=tokens.PATH),
    "senml": Parser(_payload("senml", ("a/b",), ("", "a")), tokens=(*tokens.SENML, *tokens.CBOR)),
    "cbor": Parser(_payload("cbor", ("a/b",), ("$.t", "$.s[id=*].v")), tokens=tokens.CBOR),
    "msgpack": Parser(_payload("msgpack", ("a/b",), ("$.t", "$")), tokens=tokens.MSGPACK),
    "line-protocol": Parser(
        _payload("influx", ("a/b",), ("t", "m,a=b t")), tokens=tokens.LINE_PROTOCOL
    ),
    "ultralight": Parser(
        _payload("ultralight", ("/ul/k/d/attrs",), ("t",)),
        tokens=tokens.ULTRALIGHT,
    ),
    "ngsi": Parser(_payload("ngsi", ("a/b",), ("t", "location")), tokens=tokens.NGSI),
    "ruuvi": Parser(_payload("ruuvi", ("ruuvi/g/t",), _RUUVI), tokens=tokens.RUUVI),
    "protobuf": Parser(
        _payload("sparkplug", _SPARKPLUG, ("", "T")), tokens=(b"\x12\x05", b"\x08\xff")
    ),
    "modbus": Parser(
        _payload("modbus", ("modbus/a",), ("b/1 holding 0 float32 !0", "b/1 coil 3")),
        tokens=tokens.JSON,
    ),
    "modbus-frame": Parser(_modbus_frames, tokens=(b"\x01\x03\x02", b"\x01\x83\x02", b"\0\1\0\0")),
    "segment": Parser(_segment, tokens=tokens.SEGMENT),
}
