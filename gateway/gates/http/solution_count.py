"""How many solutions a written result has, told from its bytes.

Place: behind the HTTP gate's writing of a result, which the store does by itself and in one go: it
takes no rows of ours and gives no count. Sources: SPARQL 1.1 Query Results JSON, XML, CSV and TSV
Formats, as pyoxigraph writes them.
"""

import csv
import re
from io import StringIO

from pyoxigraph import QueryResultsFormat

_STRING_OR_GAP = re.compile(rb'"(?:[^"\\]++|\\.)*+"|(\},\{)', re.DOTALL)


def solution_count(body: bytes, result_format: QueryResultsFormat) -> int:
    """The number of solutions in the result of a SELECT; linear in its length.

    >>> solution_count(b"?s\\n<urn:a>\\n<urn:b>\\n", QueryResultsFormat.TSV)
    2
    """
    if result_format == QueryResultsFormat.JSON:
        return _in_json(body)
    if result_format == QueryResultsFormat.XML:
        return body.count(b"<result>")
    if result_format == QueryResultsFormat.TSV:
        return body.count(b"\n") - 1
    return sum(1 for _ in csv.reader(StringIO(body.decode(), newline=""))) - 1


def _in_json(body: bytes) -> int:
    """Solutions are objects in a list; only between those stands `},{` outside a string."""
    if body.endswith(b"[]}}"):
        return 0
    return 1 + sum(match[1] is not None for match in _STRING_OR_GAP.finditer(body))
