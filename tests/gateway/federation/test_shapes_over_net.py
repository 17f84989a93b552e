"""The 37 shapes of queries over four gateways: each notification is the query on the merge.

Their data share nodes, so that most answers have parts of several gateways.
"""

from random import Random

import pytest

from bench.city.shapes import SHAPES, Data, query
from gateway.engine import SubscribeRequest
from gateway.errors import UnsupportedQueryError
from gateway.federation.loopback import Misfortunes
from gateway.federation.member import MemberSettings
from tests.gateway.federation.seeded_net import Gateways
from tests.gateway.federation.test_union_oracle import NAMES

pytestmark = pytest.mark.property

_TOO_WIDE = {"path !", "path ?", "path *"}
"""What looks at everything that others have: a negated set, paths of length 0."""


def play(seed: int, shapes: list[str], steps: int) -> int:
    """Random updates and misfortunes; how many notifications there were."""
    random = Random(seed)
    gateways = Gateways(NAMES, random, lambda _: MemberSettings())
    data = {name: Data(8, f"{seed} {name}") for name in NAMES}
    for name, its in data.items():
        quads = " ".join(
            f"{quad.triple} ." for quad in its.quads if str(quad.graph_name) == "DEFAULT"
        )
        gateways.update(name, f"INSERT DATA {{ {quads} }}")
    refused = set()
    for shape in shapes:
        try:
            gateways.subscribe("hall", SubscribeRequest(query(shape)), None, 400)
        except UnsupportedQueryError:
            refused.add(shape)
    assert refused == _TOO_WIDE & set(shapes)
    gateways.net.misfortunes = Misfortunes(drop=0.1, repeat=0.1)
    for _ in range(steps):
        name = random.choice(NAMES)
        gateways.update(name, data[name].update())
        for _ in range(random.randrange(10)):
            gateways.net.step()
        gateways.tick()
    gateways.net.misfortunes = Misfortunes()
    gateways.settle()
    for subscriber in gateways.subscribers["hall"]:
        subscriber.compare({each: gateways.now(each) for each in NAMES})
    for engine in gateways.engines.values():
        engine.close()
    return gateways.told


def test_shapes_are_exact_over_four_gateways() -> None:
    assert play(1, list(SHAPES), 20) > 100


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_is_exact_over_four_gateways_in_the_long_run(shape: str) -> None:
    for seed in range(20):
        play(seed, [shape], 100)
