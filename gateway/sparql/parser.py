"""`parse_query` and `parse_update`: SPARQL 1.1 text to the values of `algebra`, in one pass.

Place: where the text of a SUBSCRIBE, QUERY or UPDATE enters the core. Source: SPARQL 1.1 Query
Language (2013), section 19, and SPARQL 1.1 Update (2013), section 3. The grammar is read by
recursive descent; each layer is a class in a module of its own and adds one chapter:

    Cursor → FormCounter → TermParser → PathParser → TriplesParser → ExpressionParser
           → GroupParser → QueryParser → UpdateParser

Time is linear in the text, and nesting is bounded (`cursor.MAX_DEPTH`).
"""

from gateway.sparql.algebra import Query, Update
from gateway.sparql.bounds.form import UNBOUNDED
from gateway.sparql.parameters import Parameters
from gateway.sparql.update_parser import UpdateParser


def parse_query(
    text: str,
    base: str = "",
    parameters: Parameters | None = None,
    *,
    is_admitted: bool = False,
) -> Query:
    """A query as a value; relative IRIs are resolved against `base` until a BASE in the text.

    Constants that are `parameters` are read as variables, where a variable may stand.
    Raises SparqlSyntaxError with line and column, TooComplexError beyond a bound (`form`), unless
    the text is one of ours, made of one that was admitted.

    >>> parse_query("SELECT ?s { ?s a <urn:Lamp> }").variables
    ('s',)
    """
    parser = UpdateParser(text, base, parameters)
    if is_admitted:
        parser.bounds = UNBOUNDED
    return parser.query()


def parse_update(text: str, base: str = "", parameters: Parameters | None = None) -> Update:
    """An update request as a value, in the order of its operations.

    Constants that are `parameters` are read as variables, where a variable may stand.
    Raises SparqlSyntaxError with line and column, TooComplexError beyond a bound (`form`).

    >>> len(parse_update("INSERT DATA { <urn:s> <urn:p> 1 } ; CLEAR DEFAULT").operations)
    2
    """
    return UpdateParser(text, base, parameters).update()
