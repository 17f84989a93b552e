"""`python -m bench.readings.subscriber SPECIFICATION`: one socket with many subscriptions.

Place on the way of the data: its end, SPARQL 1.1 Subscribe over WebSocket, as a process. It says
`ready` when every subscription has had its first answer; when the subscription `FENCE` changes it
says as JSON what all answers add up to, and ends. A socket's messages come in order, so that is
after everything that was committed before the fence.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from time import monotonic_ns
from typing import Any

from websockets.sync.client import connect
from websockets.sync.connection import Connection

from bench.processes import Child, python_child
from bench.readings.workload import FENCE, FENCE_QUERY

Row = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Subscriber:
    """`queries` by alias; `timed` is the alias of the one whose `?result` is timed, or empty.

    `over` has further members of a SUBSCRIBE by alias: windows and what is told of them.
    """

    url: str
    queries: Mapping[str, str]
    timed: str = ""
    over: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def child(self) -> Child:
        """The process that does it."""
        specification = json.dumps(asdict(self))
        return python_child("subscriber", "bench.readings.subscriber", specification)


@dataclass(slots=True)
class Heard:
    """What the notifications add up to; when the timed results came, and went, ns.

    `times` are the `?time` of the timed ones, where their query has it.
    """

    answers: dict[str, Counter[Row]] = field(default_factory=dict)
    arrivals: dict[str, int] = field(default_factory=dict)
    gone: dict[str, int] = field(default_factory=dict)
    times: dict[str, str] = field(default_factory=dict)
    messages: int = 0
    merged: int = 0
    last_us: int = 0

    def take(self, notification: Mapping[str, Any], arrived: int, timed: str) -> None:
        """Fold one notification; `arrived` is monotonic, ns."""
        alias = notification["alias"]
        answer = self.answers.setdefault(alias, Counter())
        answer.update(_rows(notification["addedResults"]))
        answer.subtract(_rows(notification["removedResults"]))
        if notification["sequence"] == 0 or alias == FENCE:
            return
        self.messages += 1
        self.merged += notification.get("merged", 1) - 1
        self.last_us = max(self.last_us, notification["time"])
        if alias == timed:
            for row in _rows(notification["addedResults"]):
                self.arrivals[dict(row)["result"]] = arrived
            for gone in map(dict, _rows(notification["removedResults"])):
                self.gone[gone["result"]] = arrived
                if "time" in gone:
                    self.times[gone["result"]] = gone["time"]

    def members(self) -> dict[str, object]:
        """The answers as JSON: rows with their count, which is negative if something was wrong."""
        return {
            "answers": {
                alias: [[dict(row), count] for row, count in answer.items() if count]
                for alias, answer in self.answers.items()
                if alias != FENCE
            },
            "arrivals": self.arrivals,
            "gone": self.gone,
            "times": self.times,
            "messages": self.messages,
            "merged": self.merged,
            "last_us": self.last_us,
        }


def _rows(results: Mapping[str, Any]) -> Iterator[Row]:
    for binding in results["results"]["bindings"]:
        yield tuple(sorted((name, term["value"]) for name, term in binding.items()))


def _listen(socket: Connection, subscriber: Subscriber) -> Iterator[tuple[int, str]]:
    """Every message with the time of its arrival, ns, up to the fence.

    They are read afterwards, so that reading them takes nothing from what is measured.
    """
    queries = {**subscriber.queries, FENCE: FENCE_QUERY}
    for alias, text in queries.items():
        members = {"sparql": text, "alias": alias, **subscriber.over.get(alias, {})}
        socket.send(json.dumps({"subscribe": members}))
    for number, message in enumerate(socket, 1):
        yield monotonic_ns(), str(message)
        if number == len(queries):
            _say("ready")
        elif number > len(queries) and f'"alias":"{FENCE}"' in message:
            return


def _fold(messages: Iterable[tuple[int, str]], timed: str) -> Heard:
    heard = Heard()
    for arrived, message in messages:
        heard.take(json.loads(message)["notification"], arrived, timed)
    return heard


def _main(subscriber: Subscriber) -> None:
    with connect(subscriber.url, max_size=None, compression=None) as socket:
        messages = list(_listen(socket, subscriber))
    _say(json.dumps(_fold(messages, subscriber.timed).members()))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _main(Subscriber(**json.loads(sys.argv[1])))
