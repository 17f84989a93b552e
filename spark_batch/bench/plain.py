"""What the scripts of the other engines share: names of segments, and the texts of an export."""

from pathlib import Path

from jsap.shapes.shape import Mark, Part, Shape, Shapes
from spark_batch.schema import XSD
from spark_batch.segment import SegmentName
from spark_batch.tools.fleet import BASE
from spark_batch.transforms.rdf import QUANTITIES
from spark_batch.transforms.terms import GW, UNITLESS

_HOME = ("base", "gateway")
_OWN = (*_HOME, "'/observation/'", "epoch", "'-'", "sequence")
_MESSAGE = (*_HOME, "'/message/'", "epoch", "'-'", "sequence - coalesce(message_lag, 0)")
_CLOCK = "CASE WHEN device_clock THEN coalesce(clock, 'DeviceClock') ELSE 'GatewayClock' END"
_TIME = ("replace(make_timestamp(epoch_us(result_time))::VARCHAR, ' ', 'T')", "'Z'")
_INGESTED = "replace(make_timestamp(epoch_us(result_time) + delay_us)::VARCHAR, ' ', 'T')"
_TERMS: dict[str, tuple[str, ...]] = {
    "observation": _OWN,
    "message": _MESSAGE,
    "sensor": ("sensor",),
    "property": ("property",),
    "feature": ("feature",),
    "resultNode": (*_OWN, "'/result'"),
    "unit": (f"coalesce(unit, '{UNITLESS}')",),
    "instant": (*_OWN, "'/time'"),
    "phenomenonStamp": _TIME,
    "resultTime": _TIME,
    "ingestedAt": (_INGESTED, "'Z'"),
    "timeSource": (f"'{GW}'", _CLOCK),
}


def known_files(landing: Path) -> list[tuple[str, str, int, str]]:
    """Path, gateway, epoch and base of each segment, by its name."""
    found = []
    for path in sorted(landing.rglob("*.jsonl.gz")):
        name = SegmentName.parse(path.name)
        found.append((str(path), name.gateway, name.epoch, BASE))
    return found


def text_sql(shapes: Shapes, plain_number: str) -> str:
    """An expression of SQL for the statements of a row that has no texts to be escaped."""
    numbers = ", ".join(f"'{name}'" for name in QUANTITIES)
    result = f"coalesce(lexical, text, geometry, {plain_number})"
    quantity, value = (_statements(shape, result) for shape in (shapes.quantity, shapes.value))
    return f"CASE WHEN datatype IN ({numbers}) THEN {quantity} ELSE {value} END"


def _statements(shape: Shape, result: str) -> str:
    """One concatenation, in which constants in a row are one."""
    pieces: list[str] = []
    for each in shape:
        for part in each.parts:
            for piece in (*_part(part, result), "' '"):
                if pieces and pieces[-1][-1] == piece[0] == "'":
                    pieces[-1] = pieces[-1][:-1] + piece[1:]
                else:
                    pieces.append(piece)
        pieces[-1] = pieces[-1][:-1] + ".\n'"
    pieces[-1] = pieces[-1][:-2] + "'"
    return f"concat({', '.join(pieces)})"


def _part(part: Part, result: str) -> tuple[str, ...]:
    """Expressions of SQL, constants in quotes."""
    if not isinstance(part, Mark):
        return (f"'{part}'",)
    value = (result,) if part.name == "result" else _TERMS[part.name]
    if part.is_iri:
        return ("'<'", *value, "'>'")
    if part.name == "result" and part.datatype is None:
        return ("'\"'", *value, "'\"^^<'", "datatype", "'>'")
    return ("'\"'", *value, f"'\"^^<{part.datatype or XSD + 'string'}>'")
