"""A profile's files put together: what is included is merged over what includes it.

Place: between the files (`files`) and a `Profile`. Source: the reference implementation of JSAP:
namespaces, updates and queries are replaced key by key, graphs united, `extended` merged member by
member (lists are joined), other members replaced.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from jsap.errors import JsapError
from jsap.file_format import EntryPart, GraphsPart, ProfilePart
from jsap.lexer import LexError, TokenKind, tokenize


@dataclass(frozen=True, slots=True)
class Entry:
    """An update or query with the file that it is from."""

    part: EntryPart
    source: str


@dataclass(frozen=True, slots=True)
class MergedFiles:
    """Files as one; `part` has everything but updates and queries."""

    part: ProfilePart
    updates: Mapping[str, Entry]
    queries: Mapping[str, Entry]
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, part: ProfilePart, source: str, warnings: Sequence[str] = ()) -> Self:
        """One file. Raises JsapError for a namespace that no PREFIX could declare."""
        for prefix, iri in part.namespaces.items():
            _check_namespace(prefix, iri, source)
        updates = {key: Entry(entry, source) for key, entry in part.updates.items()}
        queries = {key: Entry(entry, source) for key, entry in part.queries.items()}
        return cls(part, updates, queries, tuple(warnings))

    def with_included(self, other: Self) -> Self:
        """Both parts as one, where `other` wins."""
        ours, theirs = self.part, other.part
        part = ours.model_copy(
            update={
                "host": theirs.host or ours.host,
                "sparql11protocol": theirs.sparql11protocol or ours.sparql11protocol,
                "sparql11seprotocol": theirs.sparql11seprotocol or ours.sparql11seprotocol,
                "oauth": theirs.oauth or ours.oauth,
                "graphs": _united(ours.graphs, theirs.graphs),
                "namespaces": {**ours.namespaces, **theirs.namespaces},
                "extended": _merged(ours.extended, theirs.extended),
            }
        )
        return type(self)(
            part,
            {**self.updates, **other.updates},
            {**self.queries, **other.queries},
            (*self.warnings, *other.warnings),
        )


def _check_namespace(prefix: str, iri: str, source: str) -> None:
    place = f"namespaces.{prefix}"
    if not _is_token(f"{prefix}:", TokenKind.PNAME):
        raise JsapError(place, "no prefix", "use letters, digits and -", source)
    if not _is_token(f"<{iri}>", TokenKind.IRIREF) or ":" not in iri:
        raise JsapError(place, f"{iri!r} is no absolute IRI", "give one, without < and >", source)


def _is_token(text: str, kind: TokenKind) -> bool:
    try:
        tokens = tokenize(text)
    except LexError:
        return False
    return [(token.kind, token.text) for token in tokens] == [(kind, text)]


def _united(ours: GraphsPart, theirs: GraphsPart) -> GraphsPart:
    members = GraphsPart.model_fields
    return ours.model_copy(
        update={
            name: tuple(dict.fromkeys(getattr(ours, name) + getattr(theirs, name)))
            for name in members
        }
    )


def _merged(ours: Any, theirs: Any) -> Any:
    if theirs is None:
        return ours
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {key: _merged(ours.get(key), theirs.get(key)) for key in {**ours, **theirs}}
    if isinstance(ours, list) and isinstance(theirs, list):
        return ours + theirs
    return theirs
