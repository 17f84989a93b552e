"""`Configuration`: the data, the publications in their order, and what each must bring.

Place on the way of the data: made once, by the reference run; the runner follows it. A publication
is the concise bounded description of a resource in the answer of a channel's query: all statements
that have it as subject. Where a channel has fewer resources than publications they are drawn again,
and what is there already is withdrawn before it is published, which nobody measures. At the end the
publications are deleted, the last one that was new first, so that the answers after each deletion
are those of a moment before. Source: Murth et al., "Performance Testing of Semantic
Publish/Subscribe Systems", section 3.2.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import cast

from pyoxigraph import NamedNode, QuerySolutions, RdfFormat, Store

from bench.sepbm.adapters.adapter import n_triples
from bench.sepbm.closure import Closure, Rules
from bench.sepbm.enrich import enriched
from bench.sepbm.java_random import JavaRandom
from bench.sepbm.lubm import UNIV_BENCH_2004, Statement, universities
from bench.sepbm.ontology import univ_bench
from bench.sepbm.queries import reordered

EACH = 15
"""Publications a channel: 300 by 20 channels, as in the paper."""

RESOURCES = ("first", "all")
"""Whose descriptions are published: what a row is about, its first variable, or all that it names.

The paper says "the resources described by the query results". With all of them a department is
published now and then, and each brings the rows of its 500 students at once.
"""

Expected = tuple[str, tuple[str, ...]]
"""A channel and a row that it gains, terms in their N-Triples form."""


@dataclass(frozen=True, slots=True)
class Publication:
    """The description of a resource, drawn from the answer of a channel's query."""

    channel: str
    graph: tuple[Statement, ...]

    @property
    def subject(self) -> str:
        """The resource."""
        return self.graph[0][0]


@dataclass(frozen=True, slots=True)
class Step:
    """One request of a run.

    A publication that has been made before is withdrawn and made again. `publication` is the number
    of the one whose rows come, or go.
    """

    kind: str
    publication: int

    @property
    def inserts(self) -> bool:
        """Whether rows come."""
        return self.kind == "publish"


@dataclass(frozen=True, slots=True)
class Configuration:
    """What is loaded, and what is published after that."""

    universities: int
    namespace: str
    base: Sequence[Statement]
    publications: Sequence[Publication]

    def steps(self, number: int | None = None) -> Iterator[Step]:
        """All requests in their order, with the first `number` of the publications."""
        first: dict[str, int] = {}
        for index, publication in enumerate(self.publications[:number]):
            if publication.subject in first:
                yield Step("withdraw", index)
            first.setdefault(publication.subject, index)
            yield Step("publish", index)
        yield from (Step("delete", index) for index in reversed(first.values()))

    @property
    def digest(self) -> str:
        """The SHA-256 of data and publications."""
        told = sha256(n_triples(self.base))
        told.update(json.dumps(self._members()).encode())
        return told.hexdigest()

    def _members(self) -> Mapping[str, object]:
        return {
            "universities": self.universities,
            "namespace": self.namespace,
            "publications": [(each.channel, each.graph) for each in self.publications],
        }

    def write(self, folder: Path) -> None:
        """Two files in a folder that is there: the base as N-Triples, the rest as JSON."""
        (folder / "base.nt").write_bytes(n_triples(self.base))
        (folder / "configuration.json").write_text(json.dumps(self._members()), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> "Configuration":
        """What `write` wrote."""
        members = json.loads((folder / "configuration.json").read_text(encoding="utf-8"))
        lines = (folder / "base.nt").read_text(encoding="utf-8").splitlines()
        pool: dict[str, str] = {}
        publications = [
            Publication(channel, tuple((s, p, o) for s, p, o in graph))
            for channel, graph in members["publications"]
        ]
        return cls(
            members["universities"],
            members["namespace"],
            [_statement(line, pool) for line in lines],
            publications,
        )


def configure(
    number: int,
    *,
    each: int = EACH,
    seed: int = 0,
    namespace: str = UNIV_BENCH_2004,
    resources: str = "first",
) -> Configuration:
    """LUBM(`number`), enriched, and so many publications for each channel that has an answer.

    `resources` are those that rows are about: their first variable's, or all (`RESOURCES`).
    """
    data = enriched(universities(number, namespace), namespace, seed)
    return configured(data, number, each=each, seed=seed, namespace=namespace, resources=resources)


def configured(
    data: Sequence[Statement],
    number: int,
    *,
    each: int = EACH,
    seed: int = 0,
    namespace: str = UNIV_BENCH_2004,
    resources: str = "first",
) -> Configuration:
    """As `configure`, of data that are there."""
    found = _resources(data, namespace, every=resources == "all")
    numbers = JavaRandom(seed)
    drawn = [
        (channel, resource)
        for channel, resources in found.items()
        for resource in _drawn(numbers, resources, each)
    ]
    ordered = [drawn.pop(numbers.below(len(drawn))) for _ in range(len(drawn))]
    wanted = {resource for _, resource in ordered}
    graphs: dict[str, list[Statement]] = defaultdict(list)
    base: list[Statement] = []
    for statement in data:
        (graphs[statement[0]] if statement[0] in wanted else base).append(statement)
    publications = [Publication(channel, tuple(graphs[iri])) for channel, iri in ordered]
    return Configuration(number, namespace, base, publications)


def _resources(
    data: Sequence[Statement], namespace: str, *, every: bool
) -> Mapping[str, Sequence[str]]:
    """The resources in the answers that have statements of their own, sorted, by channel."""
    subjects = {subject for subject, _, _ in data}
    store = Store()
    facts = Closure(Rules(univ_bench(namespace)), data).facts
    store.bulk_load(n_triples(facts), format=RdfFormat.N_TRIPLES)
    found = {}
    for channel, text in reordered(namespace).items():
        rows = cast(QuerySolutions, store.query(text))
        width = len(rows.variables) if every else 1
        terms = {
            str(term) for row in rows for term in tuple(row)[:width] if isinstance(term, NamedNode)
        }
        found[channel] = sorted(terms & subjects)
    return found


def _drawn(numbers: JavaRandom, resources: Sequence[str], count: int) -> Iterator[str]:
    """`count` of them without replacement, and anew when there are no more."""
    left: list[str] = []
    for _ in range(count if resources else 0):
        left = left or list(resources)
        yield left.pop(numbers.below(len(left)))


def _statement(line: str, pool: dict[str, str]) -> Statement:
    s, p, o = line[:-2].split(" ", 2)
    return pool.setdefault(s, s), pool.setdefault(p, p), pool.setdefault(o, o)
