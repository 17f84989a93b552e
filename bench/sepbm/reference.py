"""`Reference`: which rows each publication brings.

Place on the way of the data: made by a reference run, which publishes one graph after the other
and asks every query after each; compared with what an adapter tells. A row belongs to the
publication that first made it derivable. Source: Murth et al., "Performance Testing of Semantic
Publish/Subscribe Systems", section 3.2.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bench.sepbm.adapters.adapter import Adapter
from bench.sepbm.configuration import Configuration, Expected

Reference = Sequence[Sequence[Expected]]
"""The rows by publication, sorted; deleting it takes the same rows away."""


def reference_run(
    configuration: Configuration,
    adapter: Adapter,
    queries: Mapping[str, str],
    number: int | None = None,
) -> Reference:
    """Publish everything on an adapter that tells all rows before it answers.

    With `number` only so many of the first are.
    """
    told: list[Expected] = []

    def tell(
        channel: str,
        added: Iterable[Sequence[object]],
        removed: Iterable[Sequence[object]],
        at: float,
    ) -> None:
        del removed, at
        told.extend((channel, tuple(map(str, row))) for row in added)

    adapter.load(configuration.base)
    for name, text in queries.items():
        adapter.create_channel(name, text)
        adapter.subscribe(name, tell)
    found: list[Sequence[Expected]] = []
    present: set[str] = set()
    for publication in configuration.publications[:number]:
        if publication.subject in present:
            adapter.delete(adapter.prepare(publication.graph, insert=False))
        present.add(publication.subject)
        told.clear()
        adapter.publish(adapter.prepare(publication.graph, insert=True))
        found.append(sorted(told))
    return found


def bag(rows: Iterable[Expected]) -> Counter[Expected]:
    """Rows without their order."""
    return Counter(rows)


def write(reference: Reference, file: Path) -> None:
    """As JSON."""
    file.write_text(json.dumps(reference), encoding="utf-8")


def read(file: Path) -> Reference:
    """What `write` wrote."""
    return [
        [(channel, tuple(row)) for channel, row in rows]
        for rows in json.loads(file.read_text(encoding="utf-8"))
    ]
