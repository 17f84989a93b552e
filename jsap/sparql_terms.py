r"""Terms as SPARQL writes them, so that no value can end its term or become another one.

Place: under a rendered template. Source: SPARQL 1.1 Query, 19.2 and 19.7. Some processors replace
`\u0041` before they look for tokens, some within: a backslash before a `u` is written so that both
read the same.
"""

from pyoxigraph import BlankNode, Literal, NamedNode

from jsap.forced_bindings import Term
from jsap.namespaces import XSD

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
_XSD_STRING = XSD + "string"


def written(term: Term) -> str:
    r"""The SPARQL text of a term; a blank node is written as its label.

    >>> written(Literal('say "\\u0041"'))
    '"say \\"\\\\\\u00750041\\""'
    """
    match term:
        case NamedNode(value=value):
            return f"<{value}>"
        case BlankNode(value=value):
            return f"_:{value}"
        case Literal(value=value):
            return _quoted(value) + _suffix(term)


def _quoted(value: str) -> str:
    escaped = value.translate(_ESCAPES)
    if "\\" in escaped:
        escaped = escaped.replace("\\\\u", "\\\\\\u0075").replace("\\\\U", "\\\\\\u0055")
    return f'"{escaped}"'


def _suffix(literal: Literal) -> str:
    if literal.language is not None:
        return f"@{literal.language}"
    datatype = literal.datatype.value
    return "" if datatype == _XSD_STRING else f"^^<{datatype}>"
