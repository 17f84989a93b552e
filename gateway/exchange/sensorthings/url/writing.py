"""Query options as the text of a URL again, for the addresses of next pages.

Place: the reverse of `options_parser`: what it writes reads as the same options.
"""

from collections.abc import Iterator
from urllib.parse import quote

from gateway.exchange.sensorthings.url.syntax import (
    Binary,
    Call,
    Constant,
    Expression,
    Kind,
    Options,
    Path,
    Unary,
)


def written(options: Options) -> str:
    """The query string, percent-encoded.

    >>> from gateway.exchange.sensorthings.url.options_parser import parse_options
    >>> written(parse_options("$top=5&$filter=result gt 2.5 and not (result eq 'a b')"))
    "$filter=((result%20gt%202.5)%20and%20not%20(result%20eq%20'a%20b'))&$top=5"
    """
    return "&".join(f"{name}={quote(text, safe=_SAFE)}" for name, text in _options(options))


_SAFE = "$()',;/@:"


def _options(options: Options) -> Iterator[tuple[str, str]]:
    if options.filter is not None:
        yield "$filter", expression_text(options.filter)
    if options.order_by:
        yield (
            "$orderby",
            ",".join(
                expression_text(each.expression) + (" desc" if each.is_descending else "")
                for each in options.order_by
            ),
        )
    if options.select:
        yield "$select", ",".join(options.select)
    if options.expand:
        yield "$expand", ",".join(_expansion(each.name, each.options) for each in options.expand)
    if options.top is not None:
        yield "$top", str(options.top)
    if options.skip:
        yield "$skip", str(options.skip)
    if options.count:
        yield "$count", "true"
    if options.result_format:
        yield "$resultFormat", options.result_format


def _expansion(name: str, options: Options) -> str:
    inner = ";".join(f"{option}={text}" for option, text in _options(options))
    return f"{name}({inner})" if inner else name


def expression_text(expression: Expression) -> str:
    """An expression in the words of OData, every operation in parentheses."""
    match expression:
        case Path(steps=steps):
            return "/".join(steps)
        case Constant():
            return _constant(expression)
        case Call(name=name, arguments=arguments):
            return f"{name}({','.join(map(expression_text, arguments))})"
        case Unary(operator="not", operand=operand):
            return f"not {_operand(operand)}"
        case Unary(operand=operand):
            return f"-{_operand(operand)}"
        case Binary(operator=operator, left=left, right=right):
            return f"({expression_text(left)} {operator} {expression_text(right)})"


def _operand(expression: Expression) -> str:
    text = expression_text(expression)
    return text if text.startswith("(") else f"({text})"


def _constant(constant: Constant) -> str:
    text, quoted = constant.text, constant.text.replace("'", "''")
    match constant.kind:
        case Kind.NULL:
            return "null"
        case Kind.STRING:
            return f"'{quoted}'"
        case Kind.DURATION:
            return f"duration'{text}'"
        case Kind.GEOMETRY:
            return f"geography'{quoted}'"
        case Kind.TIME if constant.end:
            return f"{text}/{constant.end}"
        case _:
            return text
