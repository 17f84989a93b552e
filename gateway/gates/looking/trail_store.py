"""What a trail asks the store: the newest observation of a sensor, its silence, a row's origin.

Each by a few queries with the rights of who asks (`Questions`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyoxigraph import (
    Literal,
    NamedNode,
    QueryResultsFormat,
    QuerySolutions,
    Variable,
    parse_query_results,
)

from gateway.admin.looking.near import Found
from gateway.errors import BadRequestError
from gateway.gates.looking.questions import Questions
from gateway.rdf.namespaces import ACTUATIONS_GRAPH, GW, SOSA
from gateway.sparql import algebra
from gateway.sparql.algebra import Query, TriplePattern, visible_variables
from gateway.sparql.scope import walk
from gateway.sparql.written import Writer

MOST_ASKED = 12

_SAMPLE = 2_000
_FEW = 8
_OF_OBSERVATIONS = frozenset(
    NamedNode(SOSA + name)
    for name in (
        *("observedProperty", "hasFeatureOfInterest", "hasSimpleResult", "madeBySensor"),
        *("hasResult", "phenomenonTime", "resultTime"),
    )
)


@dataclass(frozen=True, slots=True)
class Silence:
    """A stream that should have been heard of: since when it was not, and whether it said so."""

    since: str
    is_offline: bool


@dataclass(frozen=True, slots=True)
class RowFound:
    """Whether a query has a row now, and observations that it is made of."""

    is_there: bool
    observations: tuple[str, ...]


def newest(asks: Questions, sensor: NamedNode, observed: NamedNode) -> str | None:
    """The observation that was taken in last."""
    found = asks.rows(
        f"SELECT ?o ?at {{ ?o <{SOSA}madeBySensor> {sensor} ; <{SOSA}observedProperty> {observed}"
        f" ; <{GW}ingestedAt> ?at }} LIMIT {_SAMPLE}"
    )
    latest = max(found, key=lambda row: _value(row, "at"), default=None)
    return None if latest is None else _value(latest, "o")


def silence(asks: Questions, sensor: str, observed: str) -> Silence | None:
    """Whether a stream of a sensor is silent now."""
    found = asks.rows(
        f"SELECT ?since ?why {{ ?stream <{GW}ofSensor> <{sensor}> ; <{GW}ofProperty> <{observed}>"
        f" ; <{GW}absentSince> ?since ; <{GW}absenceReason> ?why }} LIMIT 1"
    )
    return next(
        (Silence(_value(row, "since"), _value(row, "why") == f"{GW}Offline") for row in found), None
    )


def confirmed_by(asks: Questions, observation: str) -> list[str]:
    """The actuations that an observation confirmed."""
    found = asks.rows(
        f"SELECT ?a {{ GRAPH {ACTUATIONS_GRAPH} {{ ?a <{SOSA}relatedObservation> <{observation}> }}"
        f" }} LIMIT {_FEW}"
    )
    return [_value(row, "a") for row in found]


def row_of(asks: Questions, query: Query, binding: str) -> RowFound:
    """The observations of a row, by the query's own patterns. Raises BadRequestError."""
    terms = _binding(binding)
    visible = set(visible_variables(query.where.elements))
    bound = {name: term for name, term in terms.items() if Variable(name) in visible}
    if not bound:
        raise BadRequestError("the row binds no variable of the query", "give a row of its answer")
    table = algebra.Values(tuple(map(Variable, bound)), (tuple(bound.values()),))
    writer = Writer.of(query)
    group = writer.group((algebra.Group(query.where.elements), table))
    columns = [
        writer.term(each.subject)
        for each in walk(query.where, (algebra.Exists, algebra.Minus))
        if isinstance(each, TriplePattern)
        and each.predicate in _OF_OBSERVATIONS
        and isinstance(each.subject, Variable)
    ]
    heads = " ".join(dict.fromkeys(columns)) or "(1 AS ?none)"
    found = asks.rows(f"SELECT DISTINCT {heads} {group} LIMIT {_FEW}")
    terms_found = [term for row in found for term in row.values()]
    iris = dict.fromkeys(term.value for term in terms_found if isinstance(term, NamedNode))
    return RowFound(bool(found), tuple(iris))


def _binding(text: str) -> dict[str, NamedNode | Literal]:
    """A binding of SPARQL 1.1 Query Results JSON, section 3.2.2."""
    try:
        names = list(json.loads(text))
        whole = {"head": {"vars": names}, "results": {"bindings": [json.loads(text)]}}
        results = parse_query_results(json.dumps(whole).encode(), QueryResultsFormat.JSON)
        assert isinstance(results, QuerySolutions)  # noqa: S101
        (row,) = results
        terms = {name: row[name] for name in names}
    except (ValueError, SyntaxError, TypeError, RecursionError) as error:
        raise BadRequestError(
            f"this is no row: {error}", 'give {"room": {"type": "uri", "value": "urn:room:1"}}'
        ) from error
    return {key: each for key, each in terms.items() if isinstance(each, NamedNode | Literal)}


def _value(row: Found | Mapping[str, object], name: str) -> str:
    term = row.get(name)
    return term.value if isinstance(term, NamedNode | Literal) else ""


def named(text: str) -> NamedNode:
    """An IRI, perhaps in brackets. Raises BadRequestError."""
    bare = text[1:-1] if text.startswith("<") and text.endswith(">") else text
    try:
        return NamedNode(bare)
    except ValueError as error:
        raise BadRequestError(f"{text[:80]!a} is no IRI", "give a whole IRI") from error


def newest_first(iris: Sequence[str]) -> list[str]:
    """Observations in the order in which the gateway numbered them, the last first."""
    return sorted(iris, key=_number, reverse=True)


def _number(iri: str) -> tuple[int, int]:
    epoch, _, sequence = iri.rpartition("/")[2].partition("-")
    return (int(epoch), int(sequence)) if epoch.isdecimal() and sequence.isdecimal() else (-1, -1)
