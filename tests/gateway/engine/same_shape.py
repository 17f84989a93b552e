"""Texts of the same shape with other constants: what an index of shapes must keep apart."""

import re
from random import Random

from tests.gateway.engine.query_writer import EDGES, GRAPHS, IRIS, QueryWriter
from tests.gateway.engine.update_writer import UpdateWriter

_NUMBERS = ("1", "01", "1.0", "2", "2.50", "1e0")
_CONSTANTS = {
    **dict.fromkeys(IRIS, IRIS),
    **dict.fromkeys(EDGES, EDGES),
    **dict.fromkeys(GRAPHS, GRAPHS),
    **dict.fromkeys(_NUMBERS[:4], _NUMBERS),
    **dict.fromkeys(("'v'", "'w'"), ("'v'", "'w'", '"v"', "'v'@en")),
    **dict.fromkeys(("LIMIT 1", "LIMIT 2"), ("LIMIT 1", "LIMIT 2", "LIMIT 3")),
    "OFFSET 1": ("OFFSET 0", "OFFSET 1", "OFFSET 2"),
}
_CONSTANT = re.compile(
    r"<urn:[a-z]>|LIMIT [12]|OFFSET 1|'[vw]'(?![@^])|(?<![\w.'?:-])(?:01|1\.0|1|2)(?![\w.'])"
)


def like(random: Random, text: str) -> str:
    """A text of the same shape: some of its constants are others, equal ones may differ now.

    LIMIT and OFFSET, which are no constants of the shape, change as well.
    """
    return _CONSTANT.sub(lambda found: random.choice(_CONSTANTS[found[0]]), text)


def query_family(random: Random, members: int) -> list[str]:
    """Queries of one shape."""
    base = QueryWriter(random).query()
    return [base, *(like(random, base) for _ in range(members - 1))]


def request_family(random: Random, shapes: int, members: int) -> list[str]:
    """A sequence of requests of few shapes."""
    writer = UpdateWriter(random)
    bases = [writer.request(2) for _ in range(shapes)]
    return [like(random, random.choice(bases)) for _ in range(members)]
