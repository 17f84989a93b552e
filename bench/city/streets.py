"""The city of the SUB engine's benchmark: streets of lamp-posts as RDF, its updates and queries.

Place on the way of the data: the workload of the engine benchmarks. Sizes are the paper's: 310
roads, 9,500 posts, 19,000 sensors, 35 triples a post and 4 a road, 333,740 in all. X is a road, 1
to 310, Y a post of it, from 1. Source: Roffia et al., "A Semantic Publish-Subscribe Architecture
for the Internet of Things", 2016, section VI, Tables 2 and 3.
"""

from collections.abc import Collection, Iterator

from pyoxigraph import Literal, NamedNode, Quad

from gateway.rdf.namespaces import RDF, XSD

CITY = "https://sosa-gateway.example/city/"
ROADS = 310
_OWL_INDIVIDUAL = NamedNode("http://www.w3.org/2002/07/owl#NamedIndividual")
_TYPE = NamedNode(RDF + "type")
_SIZES = (
    (range(1, 101), 10, "VerySmallRoad"),
    (range(101, 201), 25, "SmallRoad"),
    (range(201, 301), 50, "MediumRoad"),
    (range(301, 311), 100, "LargeRoad"),
)
_FIRST_TIMESTAMP = 1_400_000_000_000_000
_LAMPS_OF_ROAD = (
    f"?lamp <{CITY}hasDimmingValue> ?dimming . ?post <{CITY}hasLamp> ?lamp . "
    f"?road <{CITY}isConnectedTo> ?post"
)
ULAMP_TEMPLATE = (
    f"DELETE {{ ?lamp <{CITY}hasDimmingValue> ?dimming }} "
    f"INSERT {{ ?lamp <{CITY}hasDimmingValue> ?value }} "
    f"WHERE {{ ?lamp <{CITY}hasDimmingValue> ?dimming }}"
)
"""ULAMP as a JSAP template would have it; `lamp` and `value` are forced bindings."""

UROAD_TEMPLATE = (
    f"DELETE {{ ?lamp <{CITY}hasDimmingValue> ?dimming }} "
    f"INSERT {{ ?lamp <{CITY}hasDimmingValue> ?value }} WHERE {{ {_LAMPS_OF_ROAD} }}"
)
"""UROAD as a template; `road` and `value` are forced bindings."""


def posts(road: int) -> int:
    """How many lamp-posts a road has (Table 2)."""
    return next(count for roads, count, _ in _SIZES if road in roads)


def lamp_iri(road: int, post: int) -> str:
    """LAMP_URI_X_Y."""
    return f"{CITY}lamp/{road}/{post}"


def road_iri(road: int) -> str:
    """ROAD_URI_X."""
    return f"{CITY}road/{road}"


def dimming(road: int, post: int) -> str:
    """The value that a lamp has at first; always below 100."""
    return f"{(7 * road + post) % 100}"


def ulamp(road: int, post: int, value: str = "100") -> str:
    """ULAMP(X,Y): set one lamp's dimming value."""
    lamp = f"<{lamp_iri(road, post)}> <{CITY}hasDimmingValue>"
    old, new = f"{lamp} ?dimming", f'{lamp} "{value}"'
    return f"DELETE {{ {old} }} INSERT {{ {new} }} WHERE {{ {old} }}"


def uroad(road: int, value: str = "100") -> str:
    """UROAD(X): set the dimming value of all lamps of a road."""
    return (
        f"DELETE {{ ?lamp <{CITY}hasDimmingValue> ?dimming }} "
        f'INSERT {{ ?lamp <{CITY}hasDimmingValue> "{value}" }} '
        f"WHERE {{ {_LAMPS_OF_ROAD} FILTER(?road = <{road_iri(road)}>) }}"
    )


def slamp(road: int, post: int) -> str:
    """SLAMP(X,Y), fine-grain: one lamp's dimming value."""
    return f"SELECT ?dimming WHERE {{ <{lamp_iri(road, post)}> <{CITY}hasDimmingValue> ?dimming }}"


def sroad(road: int) -> str:
    """SROAD(X), coarse-grain: lamps and dimming values of a road."""
    return f"SELECT ?lamp ?dimming WHERE {{ {_LAMPS_OF_ROAD} FILTER(?road = <{road_iri(road)}>) }}"


def city(some: Collection[int] = range(1, ROADS + 1)) -> Iterator[Quad]:
    """All quads of these roads, in the default graph."""
    for roads, count, size in _SIZES:
        for road in roads:
            if road in some:
                yield from _road(road, size)
                for post in _first(count):
                    yield from _post(road, post)


def elsewhere(n_triples: bytes, number: int) -> bytes:
    """The same city with other roads, posts and so on; its predicates and classes stay."""
    for kind in (b"lamp", b"post", b"road", b"sensor", b"position"):
        n_triples = n_triples.replace(b"/city/%b/" % kind, b"/city/%d/%b/" % (number, kind))
    return n_triples


def _first(count: int) -> range:
    return range(1, count + 1)


def _road(road: int, size: str) -> Iterator[Quad]:
    node = NamedNode(road_iri(road))
    yield from _individual(node, "Road")
    yield _quad(node, "hasIdentifier", Literal(f"{road}"))
    yield _quad(node, "hasSize", NamedNode(CITY + size))


def _post(road: int, post: int) -> Iterator[Quad]:
    """35 quads: the road's 1, the post's own 5, the lamp's 5, the position's 4, 10 a sensor."""
    place = f"{road}/{post}"
    node, lamp = NamedNode(f"{CITY}post/{place}"), NamedNode(lamp_iri(road, post))
    position = NamedNode(f"{CITY}position/{place}")
    yield _quad(NamedNode(road_iri(road)), "isConnectedTo", node)
    yield from _individual(node, "LampPost")
    yield _quad(node, "hasIdentifier", Literal(place))
    yield _quad(node, "hasLamp", lamp)
    yield _quad(node, "hasPosition", position)
    yield from _individual(lamp, "Lamp")
    yield _quad(lamp, "hasStatus", NamedNode(CITY + ("ON", "OFF", "BROKEN")[(road + post) % 3]))
    yield _quad(lamp, "hasDimmingValue", Literal(dimming(road, post)))
    yield _quad(lamp, "hasLampType", NamedNode(CITY + ("LED", "TRADITIONAL")[post % 2]))
    yield from _individual(position, "Position")
    yield _quad(position, "latitude", _decimal(f"44.{road:03}{post:03}1"))
    yield _quad(position, "longitude", _decimal(f"11.{road:03}{post:03}1"))
    yield from _sensor(node, place, "TEMPERATURE", "CELSIUS", f"{(road + post) % 40}")
    yield from _sensor(node, place, "PRESENCE", "BOOLEAN", ("True", "False")[(road * post) % 2])


def _sensor(post: NamedNode, place: str, kind: str, unit: str, value: str) -> Iterator[Quad]:
    """10 quads, one of them the post's."""
    node = NamedNode(f"{CITY}sensor/{place}/{kind.lower()}")
    road, number = map(int, place.split("/"))
    yield _quad(post, "hasSensor", node)
    yield from _individual(node, "Sensor")
    yield _quad(node, "hasSensorType", NamedNode(CITY + kind))
    data = NamedNode(f"{node.value}/data")
    yield _quad(node, "hasData", data)
    yield from _individual(data, "SensorData")
    yield _quad(data, "hasUnit", NamedNode(CITY + unit))
    yield _quad(data, "hasValue", Literal(value))
    stamp = _FIRST_TIMESTAMP + road * 1_000_000 + number
    yield _quad(data, "hasTimeStamp", Literal(f"{stamp}", datatype=NamedNode(XSD + "integer")))


def _individual(node: NamedNode, kind: str) -> Iterator[Quad]:
    yield Quad(node, _TYPE, NamedNode(CITY + kind))
    yield Quad(node, _TYPE, _OWL_INDIVIDUAL)


def _quad(subject: NamedNode, predicate: str, object_: NamedNode | Literal) -> Quad:
    return Quad(subject, NamedNode(CITY + predicate), object_)


def _decimal(text: str) -> Literal:
    return Literal(text, datatype=NamedNode(XSD + "decimal"))
