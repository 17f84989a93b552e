"""Every error with its code and status, from the tree of gateway/errors.py."""

from collections.abc import Iterator
from inspect import getdoc

from deploy.site.reference.tables import code, table, words
from gateway.errors import GatewayError

_HEAD = """\
# Error codes

Made of gateway/errors.py. An answer has the code as `error`; [Errors](../errors.md) says of what
form it is.
"""


def errors_page() -> str:
    """One table by status and code; a code that several errors share has a row for each."""
    rows = sorted(_rows(GatewayError), key=lambda row: (row[0], row[1]))
    return f"{_HEAD}\n{table(['status', 'code', 'what it is'], rows)}\n"


def _rows(error: type[GatewayError]) -> Iterator[list[str]]:
    meaning = (getdoc(error) or "").partition("\n\n")[0]
    yield [str(error.http_status), code(error.code), words(meaning)]
    for below in error.__subclasses__():
        yield from _rows(below)
