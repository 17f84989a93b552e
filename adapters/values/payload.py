"""`Payload`: the bytes of one message, decoded at most once however many adapters look at them.

JSON is read strictly (RFC 8259, and I-JSON RFC 7493 section 2.3: no key twice): UTF-8 only, no
NaN or Infinity, nested at most MAX_DEPTH deep. Numbers stay texts, so that no digit is lost and
a number of 60,000 digits costs nothing.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias, TypeVar, cast

from adapters.values.fault import Fault, FaultReason, excerpt
from adapters.values.message import Message
from adapters.values.result import JsonNumber

MAX_PAYLOAD_BYTES = 64 * 1024
MAX_DEPTH = 32

Json: TypeAlias = bool | str | list["Json"] | dict[str, "Json"] | None
"""A JSON text; its numbers are `JsonNumber`, a kind of str."""

T = TypeVar("T")


class Payload:
    """The payload of `message`, at most MAX_PAYLOAD_BYTES; the registry refuses longer ones."""

    __slots__ = ("_document", "_once", "_text", "message", "raw")

    def __init__(self, message: Message) -> None:
        self.message = message
        self.raw = message.payload
        self._text: str | Fault | None = None
        self._document: list[Json | Fault] = []
        self._once: dict[Callable[[Payload], Any], Any] | None = None

    def once(self, function: "Callable[[Payload], T]") -> T:
        """What `function` gives for this payload, called once however many adapters ask.

        A stateful family takes a message into its state this way: several topic filters, and so
        several adapters, may match one message.
        """
        if self._once is None:
            self._once = {}
        if function not in self._once:
            self._once[function] = function(self)
        return cast(T, self._once[function])

    def text(self) -> str | Fault:
        """The payload as UTF-8 text."""
        if self._text is None:
            self._text = utf8_text(self.raw)
        return self._text

    def document(self) -> Json | Fault:
        """The payload as JSON."""
        if not self._document:
            text = self.text()
            self._document.append(text if isinstance(text, Fault) else parse_json(text))
        return self._document[0]


def utf8_text(raw: bytes) -> str | Fault:
    """`raw` decoded; the fault names the first bad byte."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        return Fault(None, FaultReason.INVALID_UTF8, f"{error.reason} at byte {error.start}")


def parse_json(text: str) -> Json | Fault:
    """The JSON document in `text`.

    >>> parse_json('{"t": 21.50}')
    {'t': '21.50'}
    """
    if not text or text.isspace():
        return Fault(None, FaultReason.EMPTY, "the payload is empty")
    if _is_too_deep(text):
        return Fault(None, FaultReason.TOO_DEEP, f"nested more than {MAX_DEPTH} deep")
    try:
        document: Json = _DECODER.decode(text)
    except _RefusedError as refused:
        return refused.fault
    except json.JSONDecodeError as error:
        return Fault(None, FaultReason.MALFORMED, f"{error.msg} at character {error.pos}")
    return document


class _RefusedError(ValueError):
    """JSON that Python's decoder would let pass; never leaves this module."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.detail)
        self.fault = fault


def _unique_members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RefusedError(Fault(None, FaultReason.DUPLICATE_KEY, _repeated(pairs)))
    return members


def _repeated(pairs: list[tuple[str, Json]]) -> str:
    [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
    return f"{excerpt(key)} occurs more than once in an object"


def _refuse_constant(name: str) -> NoReturn:
    raise _RefusedError(Fault(None, FaultReason.NOT_FINITE, f"{name} is not JSON"))


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_members,
    parse_float=JsonNumber,
    parse_int=JsonNumber,
    parse_constant=_refuse_constant,
)

# A string swallows its brackets; one without an end swallows the rest, so the scan is linear.
_BRACKETS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)


def _is_too_deep(text: str) -> bool:
    """Whether the decoder, which recurses, would go deeper than MAX_DEPTH."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for token in _BRACKETS.finditer(text):
        if token.group() in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif token.group() in "]}":
            depth -= 1
    return False
