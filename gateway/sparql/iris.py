"""Relative IRIs made absolute: the five components of RFC 3986 and its resolution (section 5.2).

Place: the parser resolves IRIs and prefixes against BASE here, before a term is made. Python's
`urljoin` does not do it: it knows a list of schemes and resolves nothing for `urn:` or `mqtt:`.

The result is character for character the store's, as else a look-up would miss its quads: what is
absolute stays as written, and of dot segments only those of the reference are taken out.
"""

import re
from typing import NamedTuple

_COMPONENTS = re.compile(
    r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL
)


class _Components(NamedTuple):
    """Scheme, authority, path, query and fragment; None where absent (RFC 3986, section 3)."""

    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None


def is_absolute(iri: str) -> bool:
    """Whether the text begins with a scheme."""
    return _split(iri).scheme is not None


def resolve(base: str, reference: str) -> str:
    """The target IRI of a reference; `base` is absolute.

    >>> resolve("http://host/a/b?q", "../c#d")
    'http://host/c#d'
    """
    ref = _split(reference)
    if ref.scheme is not None:
        return reference
    start = _split(base)
    if ref.authority is not None:
        return f"{start.scheme}:{reference}"
    query = ref.query if ref.path or ref.query is not None else start.query
    path = _target_path(start, ref.path)
    return _join(_Components(start.scheme, start.authority, path, query, ref.fragment))


def _target_path(base: _Components, reference: str) -> str:
    """The reference's segments walked from the base's folder; none climbs above the root."""
    if not reference:
        return base.path
    folder = base.path.split("/")[:-1]
    if reference.startswith("/"):
        folder, reference = [""], reference[1:]
    elif base.authority is not None and not base.path:
        folder = [""]
    root = 1 if folder[:1] == [""] else 0
    segments = reference.split("/")
    for segment in segments:
        if segment == "..":
            del folder[max(root, len(folder) - 1) :]
        elif segment != ".":
            folder.append(segment)
    if segments[-1] in {".", ".."}:
        folder.append("")
    return "/".join(folder)


def _split(iri: str) -> _Components:
    match = _COMPONENTS.fullmatch(iri)
    # Every component is optional and the path takes what is left, so any text matches.
    return _Components(*match.groups()) if match else _Components(None, None, iri, None, None)


def _join(iri: _Components) -> str:
    scheme = "" if iri.scheme is None else f"{iri.scheme}:"
    authority = "" if iri.authority is None else f"//{iri.authority}"
    query = "" if iri.query is None else f"?{iri.query}"
    fragment = "" if iri.fragment is None else f"#{iri.fragment}"
    return f"{scheme}{authority}{iri.path}{query}{fragment}"
