"""Makes a script that fails small, and writes it down as a regression case.

Place: beside `scripts`. What a reduced script says is put into tests/data/engine_cases.

    python -m tests.gateway.engine.reduction 42       plays the script of seed 42, prints it reduced
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any, TypeVar

from pyoxigraph import RdfFormat, Store, serialize

from gateway.engine import Engine, Notification
from gateway.errors import GatewayError
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import Solution
from tests.gateway.engine.engine_session import Step, Subscribe, Update
from tests.gateway.engine.engine_strategies import State
from tests.gateway.engine.scripts import Script, written

Item = TypeVar("Item")
Fails = Callable[[Script], bool]


def failure(script: Script) -> type[Exception] | None:
    """What goes wrong when it is played on an engine in memory."""
    try:
        with closing(Engine.open()) as engine:
            script.play(engine)
    except Exception as error:
        return type(error)
    return None


def reduced(script: Script) -> Script:
    """A script that fails alike; leaving out any one step, quad or word of it mends it."""
    wrong = failure(script)

    def fails(shorter: Script) -> bool:
        return failure(shorter) is wrong

    size = -1
    while size != len(repr(script)):
        size = len(repr(script))
        script = _without_steps(script, fails)
        script = _without_quads(script, fails)
        for place in range(len(script.texts)):
            script = _without_words_of_query(script, place, fails)
        for place in range(len(script.steps)):
            script = _without_words_of_update(script, place, fails)
    return script


def _fewer(items: tuple[Item, ...]) -> Iterator[tuple[Item, ...]]:
    """The items without some that stand together, most of them first."""
    length = len(items)
    while length:
        for first in range(0, len(items), length):
            yield items[:first] + items[first + length :]
        length //= 2


def _least(
    items: tuple[Item, ...], still_fails: Callable[[tuple[Item, ...]], bool]
) -> tuple[Item, ...]:
    while True:
        fewer = next((fewer for fewer in _fewer(items) if still_fails(fewer)), None)
        if fewer is None:
            return items
        items = fewer


def _without_steps(script: Script, fails: Fails) -> Script:
    steps = _least(script.steps, lambda steps: fails(replace(script, steps=steps)))
    used = {step.query % len(script.texts) for step in steps if isinstance(step, Subscribe)}
    texts = tuple(text if place in used else "ASK {}" for place, text in enumerate(script.texts))
    return replace(script, steps=steps, texts=texts)


def _without_quads(script: Script, fails: Fails) -> Script:
    graphs = script.state.graphs
    quads = _least(
        script.state.quads, lambda quads: fails(replace(script, state=State(quads, graphs)))
    )
    graphs = _least(graphs, lambda graphs: fails(replace(script, state=State(quads, graphs))))
    return replace(script, state=State(quads, graphs))


def _without_words_of_query(script: Script, place: int, fails: Fails) -> Script:
    def asking(text: str) -> Script:
        return replace(script, texts=_with(script.texts, place, text))

    def is_found(text: str) -> bool:
        return _is_legal(text, Store().query) and fails(asking(text))

    return asking(_shorter(script.texts[place], is_found))


def _without_words_of_update(script: Script, place: int, fails: Fails) -> Script:
    step = script.steps[place]
    if not isinstance(step, Update):
        return script

    def doing(text: str) -> Script:
        other: Step = Update(text, step.deferred)
        return replace(script, steps=_with(script.steps, place, other))

    def is_found(text: str) -> bool:
        return text != "" and _is_legal(text, Store().update) and fails(doing(text))

    return doing(_shorter(step.text, is_found))


def _with(items: tuple[Item, ...], place: int, item: Item) -> tuple[Item, ...]:
    return (*items[:place], item, *items[place + 1 :])


def _shorter(text: str, is_found: Callable[[str], bool]) -> str:
    """The text with fewer words."""
    return " ".join(_least(tuple(text.split()), lambda words: is_found(" ".join(words))))


def _is_legal(text: str, run: Callable[[str], object]) -> bool:
    try:
        run(text)
    except SyntaxError:
        return False
    except (RuntimeError, ValueError):
        pass
    return True


def case(script: Script, about: str) -> dict[str, Any]:
    """The script as a file of tests/data/engine_cases, with what the oracle tells.

    Subscriptions come first there, and nobody unsubscribes.
    """
    engine = Engine.open(oracle=True)
    engine.store.apply(Delta(added=script.state.quads, graphs_created=script.state.graphs))
    subscribed = [
        _subscription(engine, script, step) for step in script.steps if isinstance(step, Subscribe)
    ]
    spuids = [spuid for spuid, _ in subscribed]
    return {
        "about": about,
        "data": (serialize(script.state.quads, format=RdfFormat.TRIG) or b"").decode(),
        "subscriptions": [subscription for _, subscription in subscribed],
        "steps": [
            _case_step(engine, step.text, spuids)
            for step in script.steps
            if isinstance(step, Update)
        ],
    }


def _subscription(engine: Engine, script: Script, step: Subscribe) -> tuple[str, dict[str, Any]]:
    text = script.texts[step.query % len(script.texts)]
    first = engine.subscribe(
        text, default_graphs=step.default_graphs, named_graphs=step.named_graphs
    )
    graphs = {"default_graphs": step.default_graphs, "named_graphs": step.named_graphs}
    dataset = {key: [graph.value for graph in part] for key, part in graphs.items() if part}
    return first.spuid, {"query": text, **dataset, "first": _rows(first.added)}


def _case_step(engine: Engine, text: str, spuids: Sequence[str]) -> dict[str, Any]:
    told: dict[str, Notification] = {}
    with suppress(GatewayError):
        told = {each.spuid: each for each in engine.update(text).notifications}
    return {"update": text, "expected": [_change(told.get(spuid)) for spuid in spuids]}


def _change(notification: Notification | None) -> dict[str, Any] | None:
    if notification is None:
        return None
    return {"added": _rows(notification.added), "removed": _rows(notification.removed)}


def _rows(rows: Sequence[Solution]) -> list[dict[str, str]]:
    return [
        {name: "_:" if str(term).startswith("_:") else str(term) for name, term in row.items()}
        for row in rows
    ]


def main(seed: int) -> None:
    """Print the script of a seed, made small, and the case that it is."""
    script = written(seed)
    if failure(script) is None:
        sys.exit(f"the script of seed {seed} does not fail")
    script = reduced(script)
    sys.stdout.write(f"{script}\n{json.dumps(case(script, f'seed {seed}'), indent=2)}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
