"""`SeEndpoint`: any broker that speaks SEPA's protocols: UPDATE by HTTP, SUBSCRIBE by WebSocket.

Place on the way of the data: behind `Adapter`. A broker that does not reason is given the derived
quads with each publication, and told to delete those that follow no more; what they are is
found out before the clock starts. Sources: SPARQL 1.1 Protocol, 2.2; SPARQL 1.1 Subscribe Language
(SEPA's draft).
"""

import json
import queue
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPConnection
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from bench.processes import ChildFailedError
from bench.sepbm.adapters.adapter import Adapter, Tell, update_text
from bench.sepbm.closure import Closure, Rules
from bench.sepbm.lubm import Statement
from bench.sepbm.ontology import univ_bench

TIMEOUT_S = 120.0
IDLE_S = 2.0
"""A connection that was not used for so long is made anew."""
CHUNK = 1000
"""Statements of one UPDATE while the base is loaded."""

_NAMES = re.compile(r"SELECT ([^{]*)\{")


class SeEndpoint(Adapter):
    """A broker at `update_url` and `subscribe_url`; with `derives` it reasons itself."""

    def __init__(
        self, update_url: str, subscribe_url: str, namespace: str, *, derives: bool
    ) -> None:
        self._path = urlsplit(update_url).path or "/update"
        host = urlsplit(update_url).netloc
        self._http = HTTPConnection(host, timeout=TIMEOUT_S)
        self._used = perf_counter()
        self._socket = connect(subscribe_url, max_size=None, compression=None)
        self._told: queue.SimpleQueue[tuple[float, Mapping[str, Any]]] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name="sepbm notifications", daemon=True)
        self._reader.start()
        self._texts: dict[str, str] = {}
        self._tells: dict[str, Tell] = {}
        self._spuids: dict[str, str] = {}
        self._closure: Closure | None = None
        if not derives:
            self._closure = Closure(Rules(univ_bench(namespace)))
            self.notes = ("given the derived quads, as it does not reason",)

    def load(self, base: Sequence[Statement]) -> None:
        """By many UPDATEs."""
        statements = list(base if self._closure is None else self._closure.add(base))
        for start in range(0, len(statements), CHUNK):
            self._update(update_text("INSERT DATA", statements[start : start + CHUNK]))

    def create_channel(self, name: str, text: str) -> None:
        """Keep its text."""
        self._texts[name] = text

    def delete_channel(self, name: str) -> None:
        """Forget its text."""
        del self._texts[name]

    def subscribe(self, name: str, tell: Tell) -> int:
        """SUBSCRIBE; the channel is the alias."""
        self._tells[name] = tell
        request = {"sparql": self._texts[name], "alias": name}
        self._socket.send(json.dumps({"subscribe": request}))
        _, notification = self._answer("notification")
        self._spuids[name] = notification["spuid"]
        return len(notification["addedResults"]["results"]["bindings"])

    def unsubscribe(self, name: str) -> None:
        """UNSUBSCRIBE, and its confirmation."""
        self._socket.send(json.dumps({"unsubscribe": {"spuid": self._spuids.pop(name)}}))
        self._answer("unsubscribed")
        del self._tells[name]

    def prepare(self, graph: Sequence[Statement], *, insert: bool) -> str:
        """The text of an UPDATE; what follows, or follows no more, is found out here."""
        statements = graph
        if self._closure is not None:
            change = self._closure.add if insert else self._closure.remove
            statements = change(graph)
        return update_text("INSERT DATA" if insert else "DELETE DATA", statements)

    def publish(self, request: str) -> None:
        """POST an UPDATE."""
        self._update(request)

    def delete(self, request: str) -> None:
        """POST an UPDATE."""
        self._update(request)

    def wait(self, seconds: float) -> bool:
        """Wait for a notification; False where none comes."""
        try:
            at, message = self._told.get(timeout=seconds)
        except queue.Empty:
            return False
        notification = _member(message, "notification")
        name = notification["alias"]
        text = self._texts[name]
        added = list(_rows(text, notification.get("addedResults")))
        removed = list(_rows(text, notification.get("removedResults")))
        self._tells[name](name, added, removed, at)
        return True

    def cpu_s(self) -> float:
        """Nothing: another process, perhaps on another machine."""
        return 0.0

    def memory_bytes(self) -> int | None:
        """Not known."""
        return None

    def close(self) -> None:
        """Close both connections."""
        self._socket.close()
        self._reader.join()
        self._http.close()

    def _update(self, text: str) -> None:
        if perf_counter() - self._used > IDLE_S:
            self._http.close()  # the broker may have, and is told so by the next request only
        headers = {"Content-Type": "application/sparql-update"}
        self._http.request("POST", self._path, text.encode(), headers)
        answer = self._http.getresponse()
        body = answer.read()
        self._used = perf_counter()
        if answer.status >= 300:
            raise ChildFailedError(f"POST of an update: {answer.status} {body[:500]!r}")

    def _answer(self, member: str) -> tuple[float, Any]:
        """The next message, which must have the member."""
        try:
            at, message = self._told.get(timeout=TIMEOUT_S)
        except queue.Empty:
            raise ChildFailedError(f"no {member} for {TIMEOUT_S:g} s") from None
        return at, _member(message, member)

    def _read(self) -> None:
        try:
            for text in self._socket:
                at = perf_counter()
                self._told.put((at, json.loads(text)))
        except ConnectionClosed as error:
            self._told.put((perf_counter(), {"error": str(error)}))


def _member(message: Mapping[str, Any], name: str) -> Any:
    if name not in message:
        raise ChildFailedError(f"the broker said {json.dumps(message)[:500]} and no {name}")
    return message[name]


def _rows(text: str, results: Mapping[str, Any] | None) -> Iterator[tuple[str, ...]]:
    """The rows in the order of the SELECT."""
    found = _NAMES.search(text)
    names = [name.removeprefix("?") for name in found[1].split()] if found else []
    for binding in results["results"]["bindings"] if results else ():
        yield tuple(_term(binding[name]) for name in names)


def _term(term: Mapping[str, str]) -> str:
    if term["type"] == "uri":
        return f"<{term['value']}>"
    return json.dumps(term["value"], ensure_ascii=False)
