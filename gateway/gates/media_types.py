"""Content negotiation: in which media type an answer is written (RFC 9110, section 12.5.1).

Place on the way of the data: between the Accept header of a QUERY and the writing of its result.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from pyoxigraph import QueryResultsFormat, RdfFormat

from gateway.errors import NotAcceptableError

RESULTS: Mapping[str, QueryResultsFormat] = {
    "application/sparql-results+json": QueryResultsFormat.JSON,
    "application/json": QueryResultsFormat.JSON,
    "application/sparql-results+xml": QueryResultsFormat.XML,
    "application/xml": QueryResultsFormat.XML,
    "text/csv": QueryResultsFormat.CSV,
    "text/tab-separated-values": QueryResultsFormat.TSV,
}
"""Media types of SELECT and ASK, the one we prefer first."""

GRAPHS: Mapping[str, RdfFormat] = {
    "text/turtle": RdfFormat.TURTLE,
    "application/n-triples": RdfFormat.N_TRIPLES,
    "application/rdf+xml": RdfFormat.RDF_XML,
    "application/ld+json": RdfFormat.JSON_LD,
    "application/json": RdfFormat.JSON_LD,
}
"""Media types of CONSTRUCT and DESCRIBE, the one we prefer first."""


@dataclass(frozen=True, slots=True)
class Acceptable:
    """The best media types for results and for graphs; at most one is None."""

    results: str | None
    graphs: str | None

    @classmethod
    def of(cls, accept: str) -> Self:
        """By an Accept header; raises NotAcceptableError where none fits."""
        acceptable = cls(choose(accept, RESULTS), choose(accept, GRAPHS))
        if acceptable.results is None and acceptable.graphs is None:
            raise _not_acceptable([*RESULTS, *GRAPHS])
        return acceptable


def agreed(media_type: str | None, offers: Iterable[str]) -> str:
    """The media type, if there is one; raises NotAcceptableError."""
    if media_type is None:
        raise _not_acceptable(offers)
    return media_type


def _not_acceptable(offers: Iterable[str]) -> NotAcceptableError:
    return NotAcceptableError(
        "no media type in Accept fits the result", f"accept one of {', '.join(offers)}"
    )


def choose(accept: str, offers: Iterable[str]) -> str | None:
    """The offer that an Accept header prefers; the first ones win where it does not care.

    >>> choose("text/csv;q=0.5, text/*;q=0.1", ["text/plain", "text/csv"])
    'text/csv'
    """
    ranges = list(_media_ranges(accept or "*/*"))
    best: tuple[float, int] = (0.0, 0)
    chosen = None
    for offer in offers:
        # The most specific range that fits an offer gives its quality (RFC 9110, 12.5.1).
        fits = [(_specificity(name), quality) for name, quality in ranges if _fits(name, offer)]
        specificity, quality = max(fits, default=(0, 0.0))
        if quality > 0 and (quality, specificity) > best:
            best, chosen = (quality, specificity), offer
    return chosen


def _media_ranges(accept: str) -> Iterable[tuple[str, float]]:
    for part in accept.split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        weights = [item[2:] for item in parameters if item.startswith("q=")]
        try:
            yield name, float(weights[0]) if weights else 1.0
        except ValueError:
            continue


def _specificity(media_range: str) -> int:
    return 0 if media_range == "*/*" else 1 if media_range.endswith("/*") else 2


def _fits(media_range: str, media_type: str) -> bool:
    if media_range.endswith("/*"):
        return media_range == "*/*" or media_type.startswith(media_range[:-1])
    return media_range == media_type
