"""The namespaces of a profile: from a prefixed name or a full IRI to an IRI.

Place: under forced bindings and under mappings, where a profile may write either. Source: JSAP,
`namespaces`.
"""

from collections.abc import Mapping
from types import MappingProxyType

from pyoxigraph import NamedNode

XSD = "http://www.w3.org/2001/XMLSchema#"

DEFAULT_NAMESPACES: Mapping[str, str] = MappingProxyType(
    {
        "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
        "owl": "http://www.w3.org/2002/07/owl#",
        "xsd": XSD,
    }
)
"""Known without being declared, as in the reference implementation."""


def expand(name: str, namespaces: Mapping[str, str]) -> str:
    """The IRI of a prefixed name; any other text as it is, not checked.

    >>> expand("xsd:integer", DEFAULT_NAMESPACES)
    'http://www.w3.org/2001/XMLSchema#integer'
    >>> expand("http://example.org/", {"http": "urn:never:"})
    'http://example.org/'
    """
    prefix, colon, local = name.partition(":")
    if not colon or local.startswith("//") or prefix not in namespaces:
        return name
    return namespaces[prefix] + local


def iri(name: str, namespaces: Mapping[str, str]) -> NamedNode:
    """The IRI of a prefixed name or of a full IRI. Raises ValueError where it is neither."""
    expanded = expand(name, namespaces)
    try:
        return NamedNode(expanded)
    except ValueError as error:
        raise ValueError(f"{name!r} is neither an absolute IRI nor a prefixed name") from error
