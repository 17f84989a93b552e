"""The text of a query as SPARQL's algebra, by rdflib: its parser is complete and well kept.

Place on the way of the data: the entrance of `query`. What is no SELECT, or names a dataset of its
own, is refused here; everything below by the translation.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyparsing import ParseException
from rdflib.plugins.sparql.algebra import translateQuery
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.term import Variable

from jsap.shapes.refusal import QueryError, refused

_VARIABLE = re.compile(r"[?$](\w+)")


@dataclass(frozen=True, slots=True)
class Query:
    """The columns of a SELECT and its algebra."""

    columns: tuple[str, ...]
    algebra: Any


def parse(text: str, namespaces: Mapping[str, str]) -> Query:
    """The algebra of a SELECT; `namespaces` are known without PREFIX. Raises QueryError."""
    try:
        parsed = parseQuery(text)
        query = translateQuery(parsed, initNs=dict(namespaces)).algebra
    except ParseException as error:
        raise QueryError(
            f"no SPARQL query: line {error.lineno}, column {error.col}: {error.msg}",
            f"look at: {error.line.strip()[:120]}",
        ) from error
    except RecursionError as error:
        raise QueryError("the query is nested too deeply", "take it apart") from error
    except Exception as error:  # rdflib raises bare ones for unknown prefixes and wrong scopes
        raise QueryError(f"no SPARQL query: {error}", "correct it") from error
    if query.name != "SelectQuery":
        raise refused(query.name.removesuffix("Query").upper(), "ask with SELECT")
    if query.datasetClause:
        raise refused("FROM", "the archive is the default graph; leave FROM out")
    columns = [str(each) for each in query.PV if isinstance(each, Variable)]
    if not parsed[1].projection:
        # SELECT *: rdflib has a set, people expect the order in which they wrote.
        written = list(dict.fromkeys(_VARIABLE.findall(text)))
        columns.sort(key=written.index)
    return Query(tuple(columns), query.p)
