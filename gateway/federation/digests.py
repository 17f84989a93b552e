"""Digests: whether two members have the same quads of an entry, in a few bytes.

    quads -> BLAKE2b-128 of each, as N-Quads -> their sum mod 2^128, and how many

Place: at both ends of a stream that begins again, so that only entries that differ are sent anew.
The order does not count. Source: Bellare and Micciancio, "A New Paradigm for Collision-Free
Hashing: Incrementality at Reduced Cost", 1997, section 1; a sum protects against chance alone, and
a member that wants to be wrong about its own quads can be so anyway.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from pyoxigraph import Quad

from gateway.engine.lutt import LuttEntry, LuttIndex
from gateway.rdf.delta import Delta

_BYTES = 16


class Digest(NamedTuple):
    """How many quads, and the sum of theirs, big-endian."""

    quads: int
    total: bytes


def digest_of(quads: Iterable[Quad], own: str = "") -> Digest:
    """The digest of quads; `own` is what labels of blank nodes begin with here alone."""
    return _digest([_hash(quad, own) for quad in quads])


def digests(
    quads: Iterable[Quad], entries: Sequence[LuttEntry], own: str = ""
) -> Mapping[int, Digest]:
    """By the number of an entry, the digest of those that match it; linear in quads and entries."""
    index: LuttIndex[int] = LuttIndex()
    for number, entry in enumerate(entries):
        index.insert(entry, number)
    hashes = {quad: _hash(quad, own) for quad in quads}
    found = index.match(Delta(tuple(hashes)))
    return {
        number: _digest([hashes[quad] for quad in dict.fromkeys(artq.added)])
        for number, artq in found.items()
    }


def _digest(hashes: Sequence[int]) -> Digest:
    total = sum(hashes) % (1 << 8 * _BYTES)
    return Digest(len(hashes), total.to_bytes(_BYTES, "big"))


def _hash(quad: Quad, own: str) -> int:
    text = str(quad)
    if own:
        text = text.replace(f"_:{own}", "_:")
    return int.from_bytes(blake2b(text.encode(), digest_size=_BYTES).digest(), "big")
