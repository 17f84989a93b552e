"""JSON that comes from outside, as values that can be kept and sent on.

Place on the way of the data: where a gate reads a body. Source: RFC 8259, section 8.2: JSON can
write half of a surrogate pair, which is no Unicode character; UTF-8, files and databases have none.
"""

import json
import re
from collections.abc import Callable
from typing import Any

_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(
    text: str, fractions: type = float, constant: Callable[[str], object] | None = None
) -> Any:
    """The value; numbers with a fraction are made by `fractions`, NaN and its kin by `constant`.

    Linear in the text. Raises ValueError, RecursionError, and what these two raise.

    >>> read_json('"\\\\ud83d\\\\ude00"') == chr(0x1F600)
    True
    """
    value = json.loads(text, parse_float=fractions, parse_constant=constant)
    if _HALF.search(text):
        _require_unicode(value)
    return value


def _require_unicode(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError as error:
        raise ValueError("a string has half of a surrogate pair") from error
