"""The city of the SUB engine's benchmark: streets of lamp-posts as RDF, its updates and queries.

Place on the way of the data: the workload of the engine benchmarks. Source: seed 000, section VI,
Tables 2 and 3. Sizes are the paper's: 310 roads, 9,500 posts, 19,000 sensors, 35 triples a post
and 4 a road, 333,740 in all. X is a road, 1 to 310, Y a post of it, from 1.
"""

from collections.abc import Iterator

from pyoxigraph import Literal, NamedNode, Quad

from gateway.rdf.namespaces import RDF, XSD

CITY = "https://sosa-gateway.example/city/"
ROADS = 310
NEW_DIMMING = "100"
"""What every update sets; before it a lamp has less."""

_OWL_INDIVIDUAL = NamedNode("http://www.w3.org/2002/07/owl#NamedIndividual")
_TYPE = NamedNode(RDF + "type")
_SIZES = (
    (range(1, 101), 10, "VerySmallRoad"),
    (range(101, 201), 25, "SmallRoad"),
    (range(201, 301), 50, "MediumRoad"),
    (range(301, 311), 100, "LargeRoad"),
)
_FIRST_TIMESTAMP = 1_400_000_000_000_000


def posts(road: int) -> int:
    """How many lamp-posts a road has (Table 2)."""
    return next(count for roads, count, _ in _SIZES if road in roads)


def lamp_iri(road: int, post: int) -> str:
    """LAMP_URI_X_Y."""
    return f"{CITY}lamp/{road}/{post}"


def road_iri(road: int) -> str:
    """ROAD_URI_X."""
    return f"{CITY}road/{road}"


def ulamp(road: int, post: int) -> str:
    """ULAMP(X,Y): set one lamp's dimming value."""
    lamp = f"<{lamp_iri(road, post)}> <{CITY}hasDimmingValue>"
    old, new = f"{lamp} ?dimming", f'{lamp} "{NEW_DIMMING}"'
    return f"DELETE {{ {old} }} INSERT {{ {new} }} WHERE {{ {old} }}"


def slamp(road: int, post: int) -> str:
    """SLAMP(X,Y), fine-grain: one lamp's dimming value."""
    return f"SELECT ?dimming WHERE {{ <{lamp_iri(road, post)}> <{CITY}hasDimmingValue> ?dimming }}"


def sroad(road: int) -> str:
    """SROAD(X), coarse-grain: lamps and dimming values of a road."""
    return (
        f"SELECT ?lamp ?dimming WHERE {{ ?lamp <{CITY}hasDimmingValue> ?dimming . "
        f"?post <{CITY}hasLamp> ?lamp . ?road <{CITY}isConnectedTo> ?post "
        f"FILTER(?road = <{road_iri(road)}>) }}"
    )


def subscription_profile() -> tuple[str, ...]:
    """The 1,004 subscriptions: 1,000 of one lamp each, and 4 of a road."""
    roads = (*range(1, 6), *range(101, 105), *range(201, 204), *range(301, 308))
    fine = (slamp(road, post) for road in roads for post in _first(posts(road)))
    return (*fine, *(sroad(road) for road in (6, 105, 204, 308)))


def lamp_profile() -> tuple[str, ...]:
    """The update profile LAMP: the first lamp of every road."""
    return tuple(ulamp(road, 1) for road in range(1, ROADS + 1))


def city() -> Iterator[Quad]:
    """All quads, in the default graph."""
    for roads, count, size in _SIZES:
        for road in roads:
            yield from _road(road, size)
            for post in _first(count):
                yield from _post(road, post)


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
    yield _quad(lamp, "hasDimmingValue", Literal(f"{(7 * road + post) % 100}"))
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
