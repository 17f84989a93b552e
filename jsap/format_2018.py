"""A profile in the form of 2018, whose one object `parameters` says where everything is.

Place: before anything else is read of a file. Source: facts about JSAP up to April 2018: `host`,
`ports` (http, https, ws, wss), `paths` (query, update, subscribe, register, tokenRequest,
securePath), `methods`, `formats`, `security`; the `id` that entries of 2017 had is passed over.
"""

from collections.abc import Mapping
from typing import Any

Members = Mapping[str, Any]

_MARKS = frozenset({"host", "ports", "paths", "methods", "formats", "security"})
_LIFTED = ("namespaces", "graphs", "extended", "updates", "queries")


def is_of_2018(members: Mapping[str, object]) -> bool:
    """Whether the members are of that form; `parameters` of another kind are nobody's."""
    parameters = members.get("parameters")
    return isinstance(parameters, Mapping) and not _MARKS.isdisjoint(parameters)


def converted(members: Mapping[str, object]) -> dict[str, object]:
    """The same profile in today's form; members in today's form win.

    `https` and `wss` are the protocols where there is no port for the plain ones.
    """
    rest = {key: value for key, value in members.items() if key != "parameters"}
    parameters = _object(members, "parameters")
    lifted = {key: parameters[key] for key in _LIFTED if key in parameters}
    return {**_today(_Parameters(parameters)), **lifted, **rest}


class _Parameters:
    """The parts of `parameters`, each an object even where the file has none."""

    def __init__(self, parameters: Members) -> None:
        self.host = parameters.get("host")
        self.ports = _object(parameters, "ports")
        self.paths = _object(parameters, "paths")
        self.methods = _object(parameters, "methods")
        self.formats = _object(parameters, "formats")
        self.security = _object(parameters, "security")

    def operation(self, kind: str) -> Members:
        """`query` or `update`."""
        parts = {"path": self.paths, "method": self.methods, "format": self.formats}
        return {name: part[kind] for name, part in parts.items() if kind in part}

    def secure_path(self, kind: str, default: str) -> str:
        """A path behind `securePath`."""
        return f"{self.paths.get('securePath', '')}{self.paths.get(kind, default)}"


def _today(old: _Parameters) -> dict[str, object]:
    members: dict[str, object] = {} if old.host is None else {"host": old.host}
    if sparql := _sparql11protocol(old):
        members["sparql11protocol"] = sparql
    if channels := _channels(old):
        protocol = "ws" if "ws" in channels else "wss"
        members["sparql11seprotocol"] = {"protocol": protocol, "availableProtocols": channels}
    if old.security or "tokenRequest" in old.paths:
        members["oauth"] = _oauth(old)
    return members


def _sparql11protocol(old: _Parameters) -> Members:
    protocol = "https" if "http" not in old.ports and "https" in old.ports else "http"
    operations = {kind: old.operation(kind) for kind in ("query", "update") if old.operation(kind)}
    if protocol == "https":
        secure = {kind: old.secure_path(kind, f"/{kind}") for kind in ("query", "update")}
        operations = {kind: {**old.operation(kind), "path": path} for kind, path in secure.items()}
    if not operations and protocol not in old.ports:
        return {}
    port = {"port": old.ports[protocol]} if protocol in old.ports else {}
    return {"protocol": protocol, **port, **operations}


def _channels(old: _Parameters) -> Members:
    channels: dict[str, object] = {}
    if "ws" in old.ports:
        path = old.paths.get("subscribe", "/subscribe")
        channels["ws"] = {"port": old.ports["ws"], "path": path}
    if "wss" in old.ports:
        path = old.secure_path("subscribe", "/subscribe")
        channels["wss"] = {"port": old.ports["wss"], "path": path, "scheme": "wss"}
    return channels


def _oauth(old: _Parameters) -> Members:
    port = f":{old.ports['https']}" if "https" in old.ports else ""
    place = f"https://{old.host or 'localhost'}{port}"
    urls = {
        kind: f"{place}{old.paths[kind]}"
        for kind in ("register", "tokenRequest")
        if kind in old.paths
    }
    return {"enable": bool(old.security), **urls, **old.security}


def _object(members: Members, key: str) -> Members:
    value = members.get(key)
    return value if isinstance(value, Mapping) else {}
