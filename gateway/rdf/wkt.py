"""Geometries as WKT and as GeoJSON, their distance and length; values, no library.

Place: what the graph says of places (geo:wktLiteral) is told as GeoJSON, and comes as GeoJSON.
Distances are planar, in the units of the coordinates: degrees for longitude and latitude. Sources:
OGC Simple Feature Access, Part 1, version 1.2.1, section 7 (WKT); RFC 7946 (GeoJSON); OGC
GeoSPARQL 1.1, section 8.5.1 (the IRI of a reference system before the text).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import hypot, inf, isfinite

Coordinates = list[object]
"""A position as numbers, or a list of these, as deep as the type has it."""

Geometry = Mapping[str, object]
"""A GeoJSON geometry: its `type`, and `coordinates` or `geometries`."""

MOST_POSITIONS = 20_000
_MOST_PAIRS = 1_000_000
_DEPTHS = {
    "Point": 0,
    "LineString": 1,
    "Polygon": 2,
    "MultiPoint": 1,
    "MultiLineString": 2,
    "MultiPolygon": 3,
}
_NAMES = {name.upper(): name for name in [*_DEPTHS, "GeometryCollection"]}
_TOKEN = re.compile(r"\s*([(),]|[A-Za-z]+|[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*")
_REFERENCE = re.compile(r"\s*<[^<>]*>\s*")

_Position = tuple[float, ...]
_Segment = tuple[_Position, _Position]


def geojson(wkt: str) -> dict[str, object]:
    """A geometry as GeoJSON. Raises ValueError for what is no WKT, or of too many positions.

    >>> geojson("POINT (8.4 49.0)")
    {'type': 'Point', 'coordinates': [8.4, 49.0]}
    """
    reader = _Reader(_tokens(wkt))
    found = reader.geometry()
    if reader.left:
        raise ValueError(f"{wkt[:80]!r} goes on behind its geometry")
    return found


def wkt(geometry: object) -> str:
    """A GeoJSON geometry as WKT. Raises ValueError for what is none.

    >>> wkt({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]})
    'POLYGON((0 0,1 0,1 1,0 0))'
    """
    if not isinstance(geometry, dict):
        raise ValueError("a geometry is an object")  # data, not a defect
    kind = geometry.get("type")
    if kind == "Feature":
        return wkt(geometry.get("geometry"))
    if kind == "GeometryCollection" and isinstance(geometry.get("geometries"), list):
        return f"GEOMETRYCOLLECTION({','.join(map(wkt, geometry['geometries']))})"
    if not isinstance(kind, str) or kind not in _DEPTHS:
        raise ValueError(f"{str(kind)[:40]!r} is no geometry that is known")
    text = _written(geometry.get("coordinates"), _DEPTHS[kind])
    if text.count(",") > MOST_POSITIONS:
        raise ValueError("the geometry has too many positions")
    return f"{kind.upper()}{text}" if text.startswith("(") else f"{kind.upper()}({text})"


def distance(mine: str, theirs: str) -> float:
    """How far two geometries are apart at their nearest. Raises ValueError.

    >>> distance("POINT(0 0)", "LINESTRING(3 -1,3 1)")
    3.0
    """
    one, other = geojson(mine), geojson(theirs)
    left, right = list(_segments(one)), list(_segments(other))
    if not left or not right:
        raise ValueError("an empty geometry is nowhere")
    if len(left) * len(right) > _MOST_PAIRS:
        raise ValueError("the geometries have too many positions")
    if _covers(one, right[0][0]) or _covers(other, left[0][0]):
        return 0.0
    return min(_apart(a, b) for a in left for b in right)


def length(text: str) -> float:
    """The length of lines and of the borders of areas. Raises ValueError."""
    return sum(_long(*segment) for segment in _segments(geojson(text)))


def _tokens(text: str) -> list[str]:
    reference = _REFERENCE.match(text)
    at = reference.end() if reference else 0
    found: list[str] = []
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or len(found) > 4 * MOST_POSITIONS:
            raise ValueError(f"{text[:80]!r} is no WKT")
        found.append(match[1])
        at = match.end()
    return found


class _Reader:
    """Reads the geometries of some tokens."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def left(self) -> bool:
        """Whether something is left."""
        return self._at < len(self._tokens)

    def geometry(self, depth: int = 0) -> dict[str, object]:
        """The next one."""
        name = _NAMES.get(self._next().upper())
        if name is None or depth > 4:
            raise ValueError("this is no geometry that is known")
        if self._peek().upper() in {"Z", "M", "ZM"}:
            self._next()
        is_empty = self._peek().upper() == "EMPTY"
        if is_empty:
            self._next()
        if name == "GeometryCollection":
            inner = [] if is_empty else self._several(lambda: self.geometry(depth + 1))
            return {"type": name, "geometries": inner}
        coordinates = [] if is_empty else self._coordinates(_DEPTHS[name], name == "MultiPoint")
        return {"type": name, "coordinates": coordinates}

    def _coordinates(self, depth: int, may_be_bare: bool) -> Coordinates:
        if depth == 0:
            self._need("(")
            position = self._position()
            self._need(")")
            return position
        if depth == 1:
            return self._several(lambda: self._point(may_be_bare))
        return self._several(lambda: self._coordinates(depth - 1, may_be_bare))

    def _point(self, may_be_bare: bool) -> Coordinates:
        """A position; each of a MULTIPOINT may stand in parentheses of its own."""
        if may_be_bare and self._peek() == "(":
            return self._coordinates(0, may_be_bare)
        return self._position()

    def _position(self) -> Coordinates:
        numbers: Coordinates = []
        while self._peek() not in {",", ")", "("}:
            value = float(self._next())
            if not isfinite(value):
                raise ValueError("a coordinate is out of range")
            numbers.append(value)
        if not 2 <= len(numbers) <= 4:
            raise ValueError("a position has two to four numbers")
        return numbers

    def _several(self, read: "object") -> list[object]:
        assert callable(read)  # noqa: S101
        self._need("(")
        found = [read()]
        while self._peek() == ",":
            self._next()
            found.append(read())
        self._need(")")
        return found

    def _peek(self) -> str:
        if self._at == len(self._tokens):
            raise ValueError("the geometry ends too early")
        return self._tokens[self._at]

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _need(self, mark: str) -> None:
        if self._next() != mark:
            raise ValueError(f"{mark!r} is missing in the geometry")


def _written(coordinates: object, depth: int) -> str:
    if not isinstance(coordinates, list | tuple):
        raise ValueError("coordinates are lists of numbers")
    if depth:
        return f"({','.join(_written(each, depth - 1) for each in coordinates)})"
    if not 2 <= len(coordinates) <= 4 or not all(map(_is_number, coordinates)):
        raise ValueError("a position has two to four numbers")
    return " ".join(repr(each) for each in coordinates)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _segments(geometry: Geometry) -> Iterator[_Segment]:
    """What a geometry is made of; a point is a segment of no length."""
    for kind, coordinates in _parts(geometry):
        lines = _lines(kind, coordinates)
        for line in lines:
            yield from pairwise(line) if len(line) > 1 else ((each, each) for each in line)


def _parts(geometry: Geometry) -> Iterator[tuple[str, object]]:
    inner = geometry.get("geometries")
    if isinstance(inner, list):
        for each in inner:
            yield from _parts(each)
    else:
        yield str(geometry["type"]), geometry["coordinates"]


def _lines(kind: str, coordinates: object) -> Iterator[list[_Position]]:
    depth = _DEPTHS[kind]
    if depth == 0:
        if coordinates:
            yield [_position(coordinates)]
    elif kind == "MultiPoint":
        yield from ([_position(each)] for each in _listed(coordinates))
    elif depth == 1:
        yield [_position(each) for each in _listed(coordinates)]
    else:
        inner = "LineString" if depth == 2 else "Polygon"
        for each in _listed(coordinates):
            yield from _lines(inner, each)


def _listed(value: object) -> list[object]:
    assert isinstance(value, list)  # noqa: S101  # as `geojson` makes it
    return value


def _position(value: object) -> _Position:
    x, y, *_ = _listed(value)
    return float(str(x)), float(str(y))


def _covers(geometry: Geometry, point: _Position) -> bool:
    """Whether an area of the geometry has a position in it."""
    for kind, coordinates in _parts(geometry):
        areas = [coordinates] if kind == "Polygon" else []
        if kind == "MultiPolygon":
            areas = _listed(coordinates)
        for area in areas:
            rings = list(_lines("Polygon", area))
            if sum(_is_in(point, ring) for ring in rings) % 2:
                return True
    return False


def _is_in(point: _Position, ring: Sequence[_Position]) -> bool:
    """By how often a ray from the position crosses the ring."""
    x, y = point[0], point[1]
    crossed = False
    for a, b in pairwise(ring):
        if (a[1] > y) != (b[1] > y) and x < (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]) + a[0]:
            crossed = not crossed
    return crossed


def _long(a: _Position, b: _Position) -> float:
    return hypot(b[0] - a[0], b[1] - a[1])


def _apart(one: _Segment, other: _Segment) -> float:
    if _cross(one, other):
        return 0.0
    return min(
        (
            _to_segment(point, segment)
            for mine, segment in ((one, other), (other, one))
            for point in mine
        ),
        default=inf,
    )


def _to_segment(point: _Position, segment: _Segment) -> float:
    (x, y), (ax, ay), (bx, by) = point, *segment
    square = (bx - ax) ** 2 + (by - ay) ** 2
    along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / square if square else 0.0
    along = min(1.0, max(0.0, along))
    return hypot(x - (ax + along * (bx - ax)), y - (ay + along * (by - ay)))


def _cross(one: _Segment, other: _Segment) -> bool:
    (a, b), (c, d) = one, other
    return _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0


def _side(a: _Position, b: _Position, c: _Position) -> float:
    turned = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return (turned > 0) - (turned < 0)
