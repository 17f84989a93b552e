"""`families`: what a message of each device family costs, beside the bare store's share of it.

Place on the way of the data: adapter -> template -> store -> engine, in this process, store in
memory, default profile; no broker, no journal. The cases are those that the tests play, a day later
and with other numbers in each round. A bare pyoxigraph store runs the same UPDATE texts, in turns
with us, and must end with the same observations.
"""

import gc
import logging
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from time import process_time

from pyoxigraph import Store

import gateway
from adapters.registry import Registry
from adapters.values.memory import Memory
from adapters.values.message import Message
from adapters.values.observation import Observation
from bench.families.cases import Case, cases, identifying, varied
from bench.families.times import days_later
from bench.readings.inprocess import Request, request_texts, result_rows
from bench.readings.workload import LATEST_QUERY
from bench.report import Experiment, Outcome, Skipped, TableRow, digest
from gateway.config.settings import Config
from gateway.engine import Engine
from gateway.ingest.current_state import CurrentState
from gateway.ingest.sosa import Identity, ObservationTemplates
from gateway.journal import Position, Record
from gateway.profiles import Profiles

ROUNDS = 100
WARM = 5
"""Rounds that are not timed."""

PLAIN = "json"
FOLDER = Path(gateway.__path__[0]).parent / "tests" / "data" / "families"


@dataclass(slots=True)
class _Family:
    """One family's run; CPU s of the timed rounds."""

    name: str
    cases: Sequence[Case]
    rounds: int
    ours_s: float = 0.0
    adapter_s: float = 0.0
    bare_s: float = 0.0
    messages: int = 0
    observations: int = 0
    told: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Play every round of every case, the bare store behind us."""
        gc.collect()  # no family pays for what the one before has left
        for case in self.cases:
            play = _Play(case)
            dice = random.Random(case.name)  # noqa: S311
            for number in range(self.rounds + WARM):
                self._round(play, play.messages(dice, number), is_timed=number >= WARM)
            self.told += play.rows()
            self.expected += play.bare_rows()
            play.close()

    def _round(self, play: "_Play", messages: Sequence[Message], *, is_timed: bool) -> None:
        start = process_time()
        decoded = [play.registry.decode(message).observations for message in messages]
        between = process_time()
        requests = [
            play.take(message, observations)
            for message, observations in zip(messages, decoded, strict=True)
            if observations
        ]
        end = process_time()
        texts = request_texts(play.profiles, requests)
        before = process_time()
        for text in texts:
            play.bare.update(text)
        if is_timed:
            self.bare_s += process_time() - before
            self.adapter_s += between - start
            self.ours_s += end - start
            self.messages += len(texts)
            self.observations += sum(map(len, decoded))

    def line(self, plain_s: float) -> TableRow:
        """The family's line; `plain_s` is what an observation of plain JSON costs."""
        each_s = self.ours_s / self.observations
        return {
            "family": self.name,
            "messages/CPU s": self.messages / self.ours_s,
            "observations/message": self.observations / self.messages,
            "adapter us/message": self.adapter_s * 1e6 / self.messages,
            "us/observation": each_s * 1e6,
            "bare us/observation": self.bare_s * 1e6 / self.observations,
            "rate / bare store": self.bare_s / self.ours_s,
            "cost / plain JSON": each_s / plain_s,
        }


class _Play:
    """A case's gateway and the bare store beside it."""

    def __init__(self, case: Case) -> None:
        config = Config()
        self.profiles = Profiles.load(config.jsap.profiles)
        identity = Identity(config.gateway.base_iri, config.gateway.id)
        self._present = CurrentState(
            ObservationTemplates(self.profiles, identity), identity, latest=1
        )
        self._engine = Engine.open()
        self._engine.subscribe(self.profiles.query_text("MAPPINGS"))
        self.registry, errors = Registry.compile(case.mappings, Memory())
        if errors:
            raise errors[0]
        self.bare = Store()
        self._sent = [each for each in case.sent if not each.expected.get("faults")]
        self._kept = identifying(case.mappings)
        self._sequence = 0

    def messages(self, dice: random.Random, number: int) -> Sequence[Message]:
        """The case's messages, `number` days later and with other numbers."""
        return [days_later(varied(dice, each.message, self._kept), number) for each in self._sent]

    def take(self, message: Message, observations: Sequence[Observation]) -> Request:
        """One message's UPDATE, as ingest makes it."""
        records = []
        first = self._sequence + 1
        for observation in observations:
            self._sequence += 1
            position = Position(1, self._sequence)
            records.append(Record(position, first, observation, message.received_at))
        request = self._present.request(records).updates
        self._engine.update(request, deferred=True)
        return request

    def rows(self) -> Iterator[str]:
        """Sensors and results in our store."""
        return result_rows(self._engine.query(LATEST_QUERY))

    def bare_rows(self) -> Iterator[str]:
        """Sensors and results in the bare store."""
        return result_rows(self.bare.query(LATEST_QUERY))

    def close(self) -> None:
        """End the engine."""
        self._engine.close()


def measure(rounds: int = ROUNDS, folder: Path = FOLDER) -> Iterator[Outcome]:
    """All families that have cases with mappings."""
    found = [case for case in cases(folder) if case.mappings]
    by_family = {name: list(group) for name, group in groupby(found, key=lambda case: case.family)}
    if PLAIN not in by_family:
        yield Skipped("families", f"no cases in {folder}: run it in a checkout")
        return
    logging.getLogger("gateway.ingest.current_state").setLevel(
        logging.ERROR
    )  # cases change units each round
    families = [_Family(name, group, rounds) for name, group in by_family.items()]
    for family in families:
        family.run()
    families = [family for family in families if family.observations]
    plain = next(family for family in families if family.name == PLAIN)
    plain_s = plain.ours_s / plain.observations
    yield Experiment(
        "families",
        (),
        digest(row for family in families for row in family.told),
        digest(row for family in families for row in family.expected),
        (
            f"{rounds} rounds of each case; CPU time in one process, store in memory",
            "goals: JSON families 0.5 of the bare store's rate, none 3 times plain JSON",
        ),
        table=[family.line(plain_s) for family in families],
    )
