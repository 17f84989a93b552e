"""Damaged inputs from whole ones: the same ones for the same start of the dice."""

import random
import re
from collections.abc import Callable, Sequence

MOST_BYTES = 200_000
_NUMBER = re.compile(rb"-?[0-9]+")
_ODD = (
    *(b"0", b"-1", b"127", b"128", b"255", b"65535", b"65536", b"2147483648", b"4294967295"),
    *(b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809", b"1e999"),
    *(b"1e-999", b"0.1e", b"NaN", b"INF", b"9" * 70, b"00", b"\xd9\xa1", b"1_0"),
)
_BRACKETS = (
    (b"(", b")"),
    (b"[", b"]"),
    (b"{", b"}"),
    (b"<<(", b")>>"),
    (b"<a>", b"</a>"),
    (b'"', b'"'),
)
_BYTES = (0x00, 0x01, 0x0A, 0x22, 0x5C, 0x7F, 0x80, 0xC0, 0xED, 0xF5, 0xFF)


class Mutator:
    """Draws from a corpus that may grow, and from the tokens of a language."""

    def __init__(self, start: int, corpus: list[bytes], tokens: Sequence[bytes]) -> None:
        self.dice = random.Random(start)
        self.corpus = corpus
        self._tokens = tokens or (b"\0",)
        self._kinds: list[Callable[[bytes], bytes]] = [
            *(self._flip, self._byte, self._cut, self._take_out, self._repeat, self._splice),
            *(self._insert_token, self._swap_token, self._nest, self._number, self._shuffle),
        ]

    def draw(self) -> bytes:
        """One of the corpus, damaged one to six times; now and then as it is."""
        data = self.dice.choice(self.corpus)
        for _ in range(self.dice.choice((0, 1, 1, 1, 2, 2, 3, 4, 6))):
            data = self.dice.choice(self._kinds)(data)[:MOST_BYTES]
        return data

    def _place(self, data: bytes) -> int:
        return self.dice.randrange(len(data) + 1)

    def _span(self, data: bytes) -> tuple[int, int]:
        start = self._place(data)
        return start, min(len(data), start + int(self.dice.expovariate(1 / 12)) + 1)

    def _flip(self, data: bytes) -> bytes:
        changed = bytearray(data or b"\0")
        changed[self.dice.randrange(len(changed))] ^= 1 << self.dice.randrange(8)
        return bytes(changed)

    def _byte(self, data: bytes) -> bytes:
        changed = bytearray(data or b"\0")
        changed[self.dice.randrange(len(changed))] = self.dice.choice(_BYTES)
        return bytes(changed)

    def _cut(self, data: bytes) -> bytes:
        return data[: self._place(data)]

    def _take_out(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:start] + data[end:]

    def _repeat(self, data: bytes) -> bytes:
        start, end = self._span(data)
        times = self.dice.choice((2, 3, 10, 100, 1000))
        return data[:start] + data[start:end] * times + data[end:]

    def _splice(self, data: bytes) -> bytes:
        other = self.dice.choice(self.corpus)
        return data[: self._place(data)] + other[self._place(other) :]

    def _insert_token(self, data: bytes) -> bytes:
        at = self._place(data)
        return data[:at] + self.dice.choice(self._tokens) + data[at:]

    def _swap_token(self, data: bytes) -> bytes:
        here = [token for token in self._tokens if token in data]
        if not here:
            return self._insert_token(data)
        return data.replace(self.dice.choice(here), self.dice.choice(self._tokens), 1)

    def _nest(self, data: bytes) -> bytes:
        begin, end = self.dice.choice(_BRACKETS)
        depth = self.dice.choice((1, 3, 20, 100, 500, 5000))
        start, stop = self._span(data)
        if self.dice.random() < 0.3:
            return data[:start] + begin * depth + data[start:]
        return data[:start] + begin * depth + data[start:stop] + end * depth + data[stop:]

    def _number(self, data: bytes) -> bytes:
        found = list(_NUMBER.finditer(data))
        if not found:
            at = self._place(data)
            width = self.dice.choice((1, 2, 4, 8))
            number = self.dice.choice((0, 1, 2 ** (8 * width - 1), 2 ** (8 * width) - 1))
            return data[:at] + number.to_bytes(width, "big") + data[at + width :]
        match = self.dice.choice(found)
        return data[: match.start()] + self.dice.choice(_ODD) + data[match.end() :]

    def _shuffle(self, data: bytes) -> bytes:
        pieces = re.split(rb"([\s,;.])", data)
        if len(pieces) > 4:
            one, other = (self.dice.randrange(len(pieces)) for _ in range(2))
            pieces[one], pieces[other] = pieces[other], pieces[one]
        return b"".join(pieces)
