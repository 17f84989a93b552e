"""`windows`, `output`, `mode`, `gateways` and `absent`: what a query is about, beside its text.

Place: between an entry of a file and its template; what the members mean, the gateway knows
(docs/windows.md, docs/events.md, docs/federation.md). Names with a prefix of the profile become
IRIs, since a broker is sent IRIs alone; forced bindings have nothing to do with windows. Ours, as
`infer` is: other brokers pass these members over.
"""

from collections.abc import Mapping
from decimal import Decimal

from jsap.errors import JsapError
from jsap.namespaces import expand

TOLD = ("output", "mode", "gateways", "absent")
"""The members that are handed on as they are."""

_IRIS = ("stream", "sensor", "property", "feature")


def over_members(
    windows: Mapping[str, Mapping[str, object]],
    told: Mapping[str, object],
    namespaces: Mapping[str, str],
    path: str,
) -> dict[str, object]:
    """What a request to subscribe has of them; an entry at `path` without any has nothing.

    `told` are the members of TOLD, None where there is none.

    Raises JsapError for two names of one window.
    """
    declared: dict[str, object] = {}
    for name, members in windows.items():
        iri = expand(name, namespaces)
        if iri in declared:
            raise JsapError(f"{path}.windows", f"<{iri}> is declared twice", "keep one of the two")
        declared[iri] = {key: _value(key, each, namespaces) for key, each in members.items()}
    found: dict[str, object] = {"windows": declared} if declared else {}
    return found | {name: value for name, value in told.items() if value is not None}


def _value(member: str, value: object, namespaces: Mapping[str, str]) -> object:
    if isinstance(value, Decimal):
        return float(value)
    if member not in _IRIS:
        return value
    if isinstance(value, str):
        return expand(value, namespaces)
    if isinstance(value, list):
        return [expand(each, namespaces) if isinstance(each, str) else each for each in value]
    return value
