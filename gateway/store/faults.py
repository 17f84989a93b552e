"""From an exception of the store to the error that says what to do.

Place: where `QuadStore` evaluates a text that the gateway's own parser has taken.
"""

from gateway.errors import (
    ClientError,
    SparqlSyntaxError,
    UnsupportedQueryError,
    UpdateFailedError,
)


def fault(what: str, error: Exception) -> ClientError:
    """Why the query or update `what` could not be evaluated; nothing has changed."""
    if isinstance(error, SyntaxError):
        return SparqlSyntaxError(str(error))
    if "custom function" in str(error):
        return UnsupportedQueryError(
            f"the {what} failed: {error}", "use the functions of SPARQL 1.1, or gw:clock()"
        )
    return UpdateFailedError(
        f"the {what} failed: {error}", "nothing was changed: correct it, or try it again"
    )
