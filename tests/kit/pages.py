"""Pages that are made of what the code says: `python -m tests.kit.pages` writes them anew.

docs/properties.md is made of ontologies/properties.ttl, the tables of each family's page of its
cases below tests/data/families, between two comments; what the web page calls properties and units
is made of the same vocabulary and of the crosswalk of units.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode, parse

import ontologies
from adapters.discovery import Discovery
from adapters.families import FORMATS
from adapters.recipes.book import RECIPE_NAMES
from adapters.registry import Registry
from adapters.values.conversion import scales
from adapters.values.message import Message
from adapters.values.observation import Observation
from adapters.values.properties import BASE, VOCABULARY, Kind, Property, Shape
from adapters.values.proposal import Proposal
from adapters.values.units import SPELLINGS, UNIT
from bench.families.cases import cases
from tests.paths import DATA, ROOT

BEGIN = "<!-- made of the cases by tests/kit/pages.py -->"
END = "<!-- end -->"
PAGE_VOCABULARY = ROOT / "gateway/dashboard/web/src/vocabulary.json"
PAGE_SCALES = ROOT / "gateway/dashboard/web/src/pages/ask/scales.json"
MOST_ROWS = 80
MOST_MESSAGES = 12
LONGEST = 60

Row: TypeAlias = tuple[str, ...]

_COMMENT = "http://www.w3.org/2000/01/rdf-schema#comment"
_TRUE = "https://sosa-gateway.example/ns#meaningOfTrue"

_KINDS = {
    Kind.MEASUREMENT: ("Measurements", "Numbers with a unit."),
    Kind.STATE: ("States", "How something is; what can be set is told back as its state."),
    Kind.SETTING: ("Settings", "What a device was told to keep."),
    Kind.DIAGNOSTIC: ("Diagnostics", "Properties of the device itself: they stay with it."),
    Kind.EVENT: ("Events", "Each one counts, equal ones too."),
}

_INTRODUCTION = f"""\
# The vocabulary of properties

What an observation is of, the same for every make and at every gateway: `sosa:observedProperty` is
`{BASE}NAME`. [ontologies/properties.ttl](../ontologies/properties.ttl) has label,
definition, quantity kind, usual units and the meaning of true; this page is made of it.

A family's names are looked up whole in a table of its own, and what a device says of unit, type and
category is held against the property. What stands in no table keeps its own name below `[gateway]
base_iri`, with its unit as told; where it is confirmed, the store says that it is a `gw:OwnName`. A
unit of another quantity than the property's is a question to a person.

In the store a property has its class, `gw:Measurement`, `gw:State`, `gw:Setting`, `gw:Diagnostic`
or `gw:Event`, and its label: `?o sosa:observedProperty ?p . ?p a gw:Diagnostic` is all that devices
say of themselves.
"""


def properties_page() -> str:
    """docs/properties.md."""
    parts = [_INTRODUCTION]
    said = _said()
    for kind, (title, what) in _KINDS.items():
        parts.append(f"\n## {title}\n\n{what}\n\n")
        of_kind = [term for term in VOCABULARY.values() if term.kind is kind]
        rows = [
            (f"`{term.name}`", _values(term, said), said[term.name, _COMMENT]) for term in of_kind
        ]
        parts.append(_table(("name", "values", "is"), rows, len(rows)))
    return "".join(parts)


def _values(term: Property, said: dict[tuple[str, str], str]) -> str:
    if term.shape is Shape.NUMBER:
        return " ".join(f"`{unit.removeprefix(UNIT)}`" for unit in term.units)
    return "words" if term.shape is Shape.WORD else f"true: {said[term.name, _TRUE]}"


def _said() -> dict[tuple[str, str], str]:
    path = Path(ontologies.__path__[0]) / "properties.ttl"
    return {
        (quad.subject.value.removeprefix(BASE), quad.predicate.value): quad.object.value
        for quad in parse(path=str(path))
        if isinstance(quad.subject, NamedNode) and isinstance(quad.object, Literal)
    }


def page_scales() -> str:
    """How the web page converts units, exactly: dimension, factor and offset as fractions."""
    told = {
        unit.removeprefix(UNIT): [dimension, str(factor), str(offset)]
        for unit, (dimension, factor, offset) in scales().items()
    }
    return (
        "{\n"
        + ",\n".join(f" {json.dumps(unit)}: {json.dumps(scale)}" for unit, scale in told.items())
        + "\n}\n"
    )


def family_tables(families: Sequence[str]) -> str:
    """What the devices in the cases of families have, and what becomes of their messages."""
    rows = {row for family in families for row in _proposed(family)}
    proposed = sorted(rows, key=lambda row: (row[1].startswith("own"), *row))
    decoded = [row for family in families for row in _first(_decoded(family))]
    tables = (
        _table(("it has", "it is", "unit", "true is"), proposed, MOST_ROWS),
        _table(("it says", "observations"), decoded, len(decoded)),
    )
    return f"{BEGIN}\n\n{chr(10).join(filter(None, tables))}\n{END}"


def _table(head: Row, rows: Sequence[Row], most: int) -> str:
    if not rows:
        return ""
    lines = [head, ("---",) * len(head), *rows[:most]]
    more = f"\n{len(rows) - most} more in the cases.\n" if len(rows) > most else ""
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + more


def _proposed(family: str) -> Iterator[Row]:
    for case in cases(DATA / "families"):
        discovery = Discovery()
        for sent in case.sent if case.family == family else ():
            found = discovery.discover(sent.message)
            if found.family == family:
                yield from map(_row, found.proposals)


def _row(proposal: Proposal) -> Row:
    mapping, meaning = proposal.mapping, proposal.meaning
    says = mapping.selector or "/".join(mapping.topic_filter.split("/")[-2:])
    term = f"`{meaning.name}`" if meaning.is_known else f"own name, {meaning.kind.value.lower()}"
    unit = (mapping.unit or "").removeprefix(UNIT)
    return _cell(says), term, unit, mapping.true_value and _cell(mapping.true_value)


def _decoded(family: str) -> Iterator[Row]:
    for case in cases(DATA / "families"):
        if case.family != family or not case.mappings:
            continue
        registry, _ = Registry.compile(case.mappings)
        for sent in case.sent:
            seen = registry.decode(sent.message).observations
            if seen:
                yield _cell(_excerpt(sent.message)), ", ".join(map(_observation, seen[:4]))


def _first(rows: Iterator[Row]) -> list[Row]:
    return list(dict.fromkeys(rows))[:MOST_MESSAGES]


def _excerpt(message: Message) -> str:
    raw = message.payload
    text = raw.decode() if raw.isascii() and raw.decode().isprintable() else raw.hex()
    return f"{message.topic} {text if len(text) <= LONGEST else text[:LONGEST] + '…'}"


def _observation(seen: Observation) -> str:
    unit = (seen.unit or "").removeprefix(UNIT)
    return _cell(f"{seen.lexical[:LONGEST]} {unit}".strip())


def _cell(text: str) -> str:
    return f"`{text}`".replace("|", "\\|").replace("\n", " ")


def family_pages() -> Iterator[tuple[Path, str]]:
    """The pages of families as they are to be; each format has its tables on one of them."""
    for page in sorted((ROOT / "docs" / "families").glob("*.md")):
        families = _TOGETHER.get(page.stem, (page.stem,))
        if not {*FORMATS, *RECIPE_NAMES} >= set(families) or page.stem in OF_NO_FAMILY:
            continue
        text, tables = page.read_text(encoding="utf-8"), family_tables(families)
        if BEGIN in text:
            before, _, rest = text.partition(BEGIN)
            yield page, before + tables + rest.partition(END)[2]
        else:
            yield page, f"{text.rstrip()}\n\n## What it says, and what it is\n\n{tables}\n"


def page_vocabulary() -> str:
    """What the web page calls properties and units: gateway/dashboard/web/src/vocabulary.json."""
    properties = {
        name: {"label": each.label, "kind": each.kind.value, "shape": each.shape.value}
        for name, each in VOCABULARY.items()
    }
    units = {name: _symbol(spellings.split()) for name, spellings in SPELLINGS.items()}
    told = {"base": BASE, "properties": properties, "units": units}
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"


def _symbol(spellings: Sequence[str]) -> str:
    """A unit as people write it.

    >>> _symbol(["[degF]", "°F"]), _symbol(["uS.cm-1"]), _symbol(["m3.h-1"]), _symbol(["count"])
    ('°F', 'µS/cm', 'm³/h', '')
    """
    plain = [each for each in spellings if not re.search(r"[\[\]{}#]|^/", each)]
    first = next((each for each in plain if each in _WRITTEN), plain[0] if plain else "")
    first = _WRITTEN.get(first, first)
    if re.fullmatch(r"[a-z]{4,}", first):
        return "" if first == "count" else first
    over, *under = re.sub(r"^u(?=[A-Z]|[gmls]\b)", "µ", first).split(".")
    rest = "".join(
        f"/{each[:-2] + each[-1].replace('1', '')}" if "-" in each else f"·{each}" for each in under
    )
    text = ("" if over == "1" else over) + rest
    return re.sub(r"(?<=[a-z])[23]", lambda power: "⁰¹²³"[int(power[0])], text)


_WRITTEN = {
    **{each: each for each in ("°C", "°F", "‰", "ppm", "ppb", "mmHg", "Ω", "kΩ", "MΩ", "°")},
    **{each: each for each in ("bpm", "rpm", "mph", "cfm", "L", "mL", "L.s-1", "L.min-1", "L.h-1")},
    "%RH": "%",
    "mg.L-1": "mg.L-1",
    "[g]": "g",
}
"""Spellings that are how people write a unit, or what they write instead."""

OF_NO_FAMILY = frozenset({"README", "bridges"})
"""Pages that are about several families, or how to come to one."""

_TOGETHER = {
    "bluetooth": ("ruuvi", "theengs"),
    "fiware": ("fiware", "ultralight", "ngsi"),
    "generic": ("json", "msgpack", "cbor", "csv", "bytes", "hex", "scalar", "text"),
    "lorawan": ("chirpstack", "ttn"),
    "recipes": RECIPE_NAMES,
}
"""Families that share a page."""


if __name__ == "__main__":
    (ROOT / "docs" / "properties.md").write_text(properties_page(), encoding="utf-8")
    PAGE_VOCABULARY.write_text(page_vocabulary(), encoding="utf-8")
    PAGE_SCALES.write_text(page_scales(), encoding="utf-8")
    for path, text in family_pages():
        path.write_text(text, encoding="utf-8")
