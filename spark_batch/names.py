"""`Names`: what IRIs are called, for people who read a report.

Place on the way of the data: beside `quality`. Labels are the graph's own, as segments have told
(`archive.Labels`), or in a file; what has none is called by the end of its IRI.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from spark_batch.errors import ArchiveError

_END = re.compile(r"([^/#:]+)[/#]*$")
_SYMBOLS = {
    "DEG_C": "°C",
    "DEG_F": "°F",
    "K": "K",
    "PERCENT": "%",
    "PERCENT_RH": "% RH",
    "HectoPA": "hPa",
    "PA": "Pa",
    "W": "W",
    "KiloW": "kW",
    "KiloW-HR": "kWh",
    "V": "V",
    "A": "A",
    "LUX": "lx",
    "PPM": "ppm",
    "M3": "m³",
    "DeciB": "dB",
    "M-PER-SEC": "m/s",
}
"""QUDT units by the ends of their IRIs, as people write them."""


@dataclass(frozen=True, slots=True)
class Names:
    """Labels by IRI."""

    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Self:
        """The `rdfs:label`s of a file in Turtle or N-Triples; one in English goes before others.

        Raises ArchiveError where it cannot be read, or is neither.
        """
        import rdflib  # noqa: PLC0415  # slow to load, and few reports have labels
        from rdflib.namespace import RDFS  # noqa: PLC0415

        try:
            graph = rdflib.Graph().parse(path, format="turtle")
        except OSError as error:
            reason = error.strerror or str(error)
            raise ArchiveError(f"{path} cannot be read: {reason}", "name a file") from error
        except Exception as error:  # the parser has errors of many classes, none of them told
            first = str(error).strip().partition("\n")[0][:200]
            hint = "write rdfs:label of each in Turtle"
            raise ArchiveError(f"{path} is no Turtle: {first}", hint) from error
        found: dict[str, tuple[bool, str]] = {}
        for subject, _, label in graph.triples((None, RDFS.label, None)):
            language = getattr(label, "language", None) or "en"
            told = (language.partition("-")[0].lower() != "en", str(label))
            found[str(subject)] = min(told, found.get(str(subject), told))
        return cls({iri: label for iri, (_, label) in found.items()})

    def of(self, iri: str | None) -> str:
        """The label, or the end of the IRI; "" for nothing.

        >>> Names({"urn:a": "the lamp"}).of("urn:a"), Names().of("https://x.example/room/attic")
        ('the lamp', 'attic')
        """
        if iri is None:
            return ""
        found = _END.search(iri)
        return self.labels.get(iri) or (found[1] if found else iri)

    def unit(self, iri: str | None) -> str:
        """The symbol of a QUDT unit, or what it is called.

        >>> Names().unit("http://qudt.org/vocab/unit/DEG_C"), Names().unit("urn:bananas")
        ('°C', 'bananas')
        """
        told = self.of(iri)
        return _SYMBOLS.get(told, told)
