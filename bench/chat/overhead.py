"""What a broker adds to its store: the requests of the chat by three ways, in CPU time.

Place on the way of the data: store and engine in this process, the gateway as a process of its own.
The ways take turns, so that all have the same machine. Source: Roffia et al., "Dynamic Linked
Data: A SPARQL Event Processing Architecture", 2018, section 5.5, the first experiment.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Protocol

from pyoxigraph import QueryResultsFormat, QuerySolutions, Store

from bench.processes import Child, ChildFailedError
from gateway.client import Client
from gateway.engine import Engine
from gateway.gates.protocol.wire import encode_results
from jsap import Profile
from jsap.forced_bindings import Value

WAYS = ("store", "engine", "gateway")
_ME = "urn:ann"
_TENS = 10

Values = Mapping[str, Value]


class Way(Protocol):
    """Somewhere to send the entries of the chat to."""

    def update(self, entry: str, values: Values) -> object:
        """Done when it returns."""
        ...

    def query(self, entry: str, values: Values) -> list[str]:
        """The messages in the answer, which was written as JSON on its way."""
        ...

    def cpu_s(self) -> float:
        """The CPU time that it has used so far."""
        ...


@dataclass(slots=True)
class Costs:
    """CPU time by kind of request, and what the queries found."""

    seconds: dict[str, float] = field(default_factory=dict)
    requests: Counter[str] = field(default_factory=Counter)
    rows: list[str] = field(default_factory=list)

    @property
    def kinds(self) -> Sequence[str]:
        """In the order of the experiment."""
        return list(self.requests)

    def ms(self, kind: str) -> float:
        """A request of this kind, on average."""
        return 1e3 * self.seconds[kind] / self.requests[kind]

    def mean_ms(self) -> float:
        """What a request takes, on average, in ms."""
        return 1e3 * sum(self.seconds.values()) / self.requests.total()


def compare(folder: Path, profile: Profile, gateway: Child, rounds: int) -> Mapping[str, Costs]:
    """So many rounds of ten messages by every way."""
    engine = Engine.open(folder / "engine")
    with Client(profile) as client:
        ways: dict[str, Way] = {
            "store": _Store(profile, Store(folder / "bare")),
            "engine": _Engine(profile, engine),
            "gateway": _Gateway(client, gateway),
        }
        costs = {name: Costs() for name in ways}
        for _ in range(rounds):
            for name, way in ways.items():
                _round(way, costs[name])
    engine.close()
    return costs


def _round(way: Way, costs: Costs) -> None:
    for kind, work in _requests(way):
        before = way.cpu_s()
        for values in work[1]:
            found = work[0](kind, values)
            if isinstance(found, list):
                costs.rows.append(f"{kind} {len(found)}")
        costs.seconds[kind] = costs.seconds.get(kind, 0.0) + way.cpu_s() - before
        costs.requests[kind] += _TENS
    costs.rows.append(f"left {len(way.query('SENT', {'receiver': _ME}))}")


_Work = tuple[Callable[[str, Values], object], Sequence[Values]]


def _requests(way: Way) -> Iterator[tuple[str, _Work]]:
    """The kinds of requests in their order, each with its ten values."""
    said = [{"text": str(number), "sender": _ME, "receiver": _ME} for number in range(_TENS)]
    yield "SEND", (way.update, said)
    yield "SENT", (way.query, [{"receiver": _ME}] * _TENS)
    messages = [{"message": message} for message in way.query("SENT", {"receiver": _ME})]
    if len(messages) != _TENS:
        raise ChildFailedError(f"{len(messages)} messages are there instead of {_TENS}")
    yield "SET_RECEIVED", (way.update, messages)
    yield "RECEIVED", (way.query, [{"sender": _ME}] * _TENS)
    yield "REMOVE", (way.update, messages)


class _Local:
    """A way in this process."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    def cpu_s(self) -> float:
        """CPU time of all threads of this process."""
        return process_time()

    def update_text(self, entry: str, values: Values) -> str:
        """The request that a client would send."""
        template = self._profile.updates[entry]
        return template.render(template.bind(values))

    def query_text(self, entry: str, values: Values) -> str:
        """The request that a client would send."""
        template = self._profile.queries[entry]
        return template.render(template.bind(values))


class _Store(_Local):
    """A bare pyoxigraph store."""

    def __init__(self, profile: Profile, store: Store) -> None:
        super().__init__(profile)
        self._store = store

    def update(self, entry: str, values: Values) -> None:
        """One transaction."""
        self._store.update(self.update_text(entry, values))

    def query(self, entry: str, values: Values) -> list[str]:
        """Written as JSON by the store."""
        answer = self._store.query(self.query_text(entry, values))
        written = _solutions(answer).serialize(format=QueryResultsFormat.JSON)
        return _messages(json.loads(written or b""))


class _Engine(_Local):
    """The engine, with nobody subscribed."""

    def __init__(self, profile: Profile, engine: Engine) -> None:
        super().__init__(profile)
        self._engine = engine

    def update(self, entry: str, values: Values) -> None:
        """On the disk when it returns."""
        self._engine.update(self.update_text(entry, values))

    def query(self, entry: str, values: Values) -> list[str]:
        """Written as JSON by the gateway's encoder."""
        answer = self._engine.query(self.query_text(entry, values))
        solutions = _solutions(answer)
        names = [variable.value for variable in solutions.variables]
        return _messages(json.loads(encode_results(names, (tuple(row) for row in solutions))))


class _Gateway:
    """A gateway, over HTTP; its CPU time is that of its process."""

    def __init__(self, client: Client, gateway: Child) -> None:
        self._client = client
        self._gateway = gateway

    def cpu_s(self) -> float:
        return self._gateway.cpu_s()

    def update(self, entry: str, values: Values) -> None:
        """Answered when it is done."""
        self._client.update(entry, values)

    def query(self, entry: str, values: Values) -> list[str]:
        return _messages(json.loads(self._client.query_text(entry, values)))


def _solutions(answer: object) -> QuerySolutions:
    if not isinstance(answer, QuerySolutions):
        raise ChildFailedError("a SELECT has no solutions")
    return answer


def _messages(
    results: Mapping[str, Mapping[str, Sequence[Mapping[str, Mapping[str, str]]]]],
) -> list[str]:
    return [row["message"]["value"] for row in results["results"]["bindings"]]
