"""Content negotiation: in which media type an answer is written (RFC 9110, section 12.5.1).

Place on the way of the data: between the Accept header of a request and the writing of its answer.

SEPA answers in JSON whatever Accept says, and its clients send Accepts that have nothing to do
with what they can read. So an Accept chooses among what there is, and one that fits nothing
chooses the first of it; only the Graph Store Protocol refuses (406).
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
    "application/n-quads": RdfFormat.N_QUADS,
    "application/trig": RdfFormat.TRIG,
}
"""Media types of graphs, the one we prefer first."""

TRIPLES_AS_RESULTS = ("application/sparql-results+json", "application/json")
"""For CONSTRUCT and DESCRIBE: rows of subject, predicate and object, as SEPA answers them."""


@dataclass(frozen=True, slots=True)
class Acceptable:
    """The best media types for solutions, for a boolean and for a graph."""

    solutions: str
    boolean: str
    graph: str

    @classmethod
    def of(cls, accept: str) -> Self:
        """By an Accept header; the first of each where nothing fits."""
        booleans = [name for name in RESULTS if not name.startswith("text/")]
        return cls(
            choose(accept, RESULTS) or next(iter(RESULTS)),
            choose(accept, booleans) or booleans[0],
            choose(accept, [*GRAPHS, *TRIPLES_AS_RESULTS]) or next(iter(GRAPHS)),
        )


def require(accept: str, offers: Iterable[str]) -> str:
    """The offer that is preferred; raises NotAcceptableError."""
    offers = list(offers)
    chosen = choose(accept, offers)
    if chosen is None:
        raise NotAcceptableError(
            "no media type in Accept fits the answer", f"accept one of {', '.join(offers)}"
        )
    return chosen


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
