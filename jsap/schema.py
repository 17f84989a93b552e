"""The JSON Schema of a profile, as JSAP wants it written.

Place: for editors and validators of profiles, `sosa-gateway jsap schema`. Source: JSON Schema
2020-12, made from `file_format`, which checks what is loaded. What is only put up with (texts for
lists, numbers for texts, the form of 2018) is not in it.
"""

from collections.abc import Mapping
from typing import Any

from jsap.file_format import ProfilePart

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_OTHER_SPELLINGS = {
    "default-graph-uri": "default_graph_uri",
    "named-graph-uri": "named_graph_uri",
    "using-graph-uri": "using_graph_uri",
    "using-named-graph-uri": "using_named_graph_uri",
    "include": "#include",
}


def json_schema() -> dict[str, Any]:
    """The schema, as JSON."""
    schema = ProfilePart.model_json_schema(by_alias=True, mode="validation")
    for part in (schema, *schema["$defs"].values()):
        part.get("properties", {}).update(_spelled_otherwise(part.get("properties", {})))
    return {"$schema": _DIALECT, **schema, "title": "JSAP, JSON SPARQL Application Profile"}


def _spelled_otherwise(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        other: properties[name] for name, other in _OTHER_SPELLINGS.items() if name in properties
    }
