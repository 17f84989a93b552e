"""`Point`: a position of two members of a document, as one value.

Place on the way: selectors `point(lat=$.lat, lon=$.lon)` of the document formats. The result is a
geo:wktLiteral, `POINT(4.9 52.4)`: WGS 84, longitude first.

Source: OGC GeoSPARQL 1.1, section 8.5.1 (wktLiteral, whose axis order is that of CRS84).
"""

import re
from dataclasses import dataclass
from decimal import Decimal

from adapters.documents.json_path import ABSENT, Absent, JsonPath
from adapters.values.fault import Fault, FaultReason
from adapters.values.payload import Json
from adapters.values.result import NUMERIC, Result, json_result

WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"

_POINT = re.compile(r"point\(\s*lat\s*=\s*(\$[^,()]*?)\s*,\s*lon\s*=\s*(\$[^,()]*?)\s*\)")
_MOST_LATITUDE, _MOST_LONGITUDE = 90, 180


@dataclass(frozen=True, slots=True)
class Point:
    """Where latitude and longitude stand, in degrees.

    >>> from adapters.values.result import JsonNumber
    >>> point = Point.compile("point(lat=$.lat, lon=$.lon)")
    >>> point.find({"lat": JsonNumber("52.40"), "lon": JsonNumber("4.9")}).lexical
    'POINT(4.9 52.40)'
    """

    latitude: JsonPath
    longitude: JsonPath
    is_singular: bool = True

    @classmethod
    def compile(cls, text: str) -> "Point":
        """Raises ValueError, with the reason."""
        found = _POINT.fullmatch(text)
        if found is None:
            raise ValueError("a position is point(lat=$.lat, lon=$.lon), with two paths")
        latitude, longitude = map(JsonPath.compile, found.groups())
        if not (latitude.is_singular and longitude.is_singular):
            raise ValueError("each path of a position leads to one value")
        return cls(latitude, longitude)

    def find(self, document: Json) -> Result | Fault | Absent:
        """The position; ABSENT where neither is there, a Fault where one is missing or is none."""
        told = [path.find(document) for path in (self.latitude, self.longitude)]
        if all(isinstance(each, Absent) for each in told):
            return ABSENT
        return position(*told)


def position(latitude: Json | Absent, longitude: Json | Absent) -> Result | Fault:
    """The point at a latitude and a longitude, in degrees; a Fault where one is missing or none."""
    degrees = []
    for value, most in ((latitude, _MOST_LATITUDE), (longitude, _MOST_LONGITUDE)):
        number = _number(value, most)
        if isinstance(number, Fault):
            return number
        degrees.append(number)
    return Result(f"POINT({degrees[1]} {degrees[0]})", WKT)


def _number(value: Json | Absent, most: int) -> str | Fault:
    if isinstance(value, Absent):
        return Fault(None, FaultReason.MISSING, "a position has latitude and longitude")
    result = json_result(value)
    if isinstance(result, Fault):
        return result
    if result.datatype not in NUMERIC:
        return Fault(None, FaultReason.NOT_A_VALUE, "a latitude or longitude is a number")
    if abs(Decimal(result.lexical)) > most:
        return Fault(None, FaultReason.OUT_OF_RANGE, f"more than {most} degrees")
    return format(Decimal(result.lexical), "f")
