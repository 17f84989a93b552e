"""Scripts: a state, queries, and what is done to an engine, all written from a seed.

Place: under the oracle tests. Hypothesis shrinks well but writes little: most of what it draws
within its limits are small states that no query matches. Scripts are long and dense; those that
fail are made small by `reduction`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from pyoxigraph import BlankNode, DefaultGraph, Quad

from gateway.engine import Engine
from tests.gateway.engine.engine_session import Step, Subscribe, Unsubscribe, Update, check
from tests.gateway.engine.engine_strategies import COMMON, NAMES, ODD, QUADS, State
from tests.gateway.engine.query_writer import QueryWriter
from tests.gateway.engine.same_shape import query_family, request_family
from tests.gateway.engine.update_writer import UpdateWriter

_DATASETS = ((), (), (), NAMES[:1], NAMES[1:], NAMES)


@dataclass(frozen=True, slots=True)
class Script:
    """What `engine_session.check` plays."""

    state: State
    texts: tuple[str, ...]
    steps: tuple[Step, ...]

    def play(self, engine: Engine) -> None:
        """Raises AssertionError where the engine tells a subscriber something wrong."""
        check(engine, self.state, self.texts, self.steps)


def dense_state(random: Random) -> State:
    """About a third of the quads there can be; sometimes a graph named by a blank node."""
    quads = random.sample(COMMON, random.randint(10, 50)) + random.sample(QUADS, 3)
    quads += random.sample(ODD, random.choice((0, 0, 2, 4)))
    if random.randint(1, 5) == 1:
        quad = random.choice(COMMON)
        quads.append(Quad(quad.subject, quad.predicate, quad.object, BlankNode("k")))
    return State(tuple(dict.fromkeys(quads)), tuple(random.sample(NAMES, 1)))


def written(seed: int, *, texts: int = 8, steps: int = 12) -> Script:
    """The script of a seed: some queries of their own, some of one shape; the same for updates."""
    random = Random(seed)
    queries = [QueryWriter(random).query() for _ in range(texts // 2)]
    queries += query_family(random, texts - len(queries))
    updates = [_toggle_or_request(random) for _ in range(steps)]
    updates += request_family(random, 2, steps // 3)
    random.shuffle(updates)
    taken: list[Step] = [_subscribe(random, number) for number in range(texts)]
    for update in updates:
        taken += _between(random, texts)
        taken.append(Update(update, deferred=random.randint(1, 4) == 1))
    return Script(dense_state(random), tuple(queries), tuple(taken))


def _subscribe(random: Random, number: int) -> Subscribe:
    if random.randint(1, 4) > 1:
        return Subscribe(number)
    return Subscribe(number, random.choice(_DATASETS), random.choice(_DATASETS))


def _between(random: Random, texts: int) -> Iterator[Step]:
    match random.randint(1, 12):
        case 1:
            yield Unsubscribe(random.randint(0, 9))
        case 2:
            yield _subscribe(random, random.randrange(texts))
        case _:
            pass


_NAMED = tuple(
    quad
    for quad in COMMON
    if not isinstance(quad.subject, BlankNode) and not isinstance(quad.object, BlankNode)
)


def _toggle_or_request(random: Random) -> str:
    """Half of them change few quads that are likely to matter."""
    if random.randint(0, 1):
        return UpdateWriter(random).request(2)
    chosen = ODD if random.randint(1, 4) == 1 else _NAMED
    texts = [data_text(quad) for quad in random.sample(chosen, random.randint(1, 3))]
    verb = random.choice(("INSERT", "INSERT", "DELETE"))
    return f"{verb} DATA {{ {' '.join(texts)} }}"


def data_text(quad: Quad) -> str:
    """The quad as it stands in INSERT DATA."""
    triple = f"{quad.subject} {quad.predicate} {quad.object} ."
    graph = quad.graph_name
    return triple if isinstance(graph, DefaultGraph) else f"GRAPH {graph} {{ {triple} }}"
