"""`Profile`: a JSAP file with what it includes, its templates ready to bind.

Place on the way of the data: read once at the start, by the gateway, the clients and the batch
jobs. Source: JSAP. What shipped files do wrong without harm is a warning.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from jsap.declarations import declared
from jsap.endpoints import Endpoints, OAuth, channel_warnings
from jsap.errors import JsapError
from jsap.file_format import (
    GraphsPart,
    OAuthPart,
    Sparql11Protocol,
    Sparql11SeProtocol,
    profile_part,
    read_json,
)
from jsap.files import Fetch, Files, Opened
from jsap.forced_bindings import ForcedBinding
from jsap.includes import Entry, MergedFiles
from jsap.namespaces import DEFAULT_NAMESPACES
from jsap.template import Graphs, Template
from jsap.windows import TOLD, over_members

__all__ = ["JsapError", "Profile", "load_profile"]


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile. `source` names its file; `extended` is free JSON; `warnings` are for people.

    `places` says of each entry, as `updates.SEND`, which file it is from.

    >>> profile = Profile.parse({"queries": {"ALL": {"sparql": "SELECT * { ?s ?p ?o }"}}})
    >>> profile.queries["ALL"].variables
    ('s', 'p', 'o')
    """

    source: str
    host: str | None
    sparql11protocol: Sparql11Protocol
    sparql11seprotocol: Sparql11SeProtocol
    graphs: Graphs
    namespaces: Mapping[str, str]
    extended: Any
    updates: Mapping[str, Template]
    queries: Mapping[str, Template]
    warnings: tuple[str, ...]
    endpoints: Endpoints = field(default_factory=Endpoints)
    oauth: OAuth = field(default_factory=OAuth)
    places: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(
        cls, members: Mapping[str, object] | str, *, source: str = "profile", strict: bool = False
    ) -> Self:
        """A profile from JSON, text or members, without `include`. Raises JsapError.

        With `strict` what would be a warning is an error.
        """
        if isinstance(members, str):
            members = read_json(members, source)
        part, warnings = profile_part(members, source)
        if part.include:
            raise JsapError("include", "relative to no folder", "load it from a file", source)
        return cls.of(MergedFiles.of(part, source, warnings), source)._checked(strict)

    @classmethod
    def of(cls, files: MergedFiles, source: str) -> Self:
        """A profile from its files. Raises JsapError for a declaration that cannot be kept."""
        part = files.part
        compiler = _Compiler(
            source, {**DEFAULT_NAMESPACES, **part.namespaces}, _graphs(part.graphs)
        )
        compiler.warnings += files.warnings
        updates = compiler.templates("updates", files.updates)
        queries = compiler.templates("queries", files.queries)
        compiler.warnings += channel_warnings(part.sparql11seprotocol, "sparql11seprotocol")
        return cls(
            source,
            part.host,
            part.sparql11protocol or Sparql11Protocol(),
            part.sparql11seprotocol or Sparql11SeProtocol(),
            compiler.graphs,
            compiler.namespaces,
            part.extended,
            updates,
            queries,
            tuple(compiler.warnings),
            _endpoints(files),
            OAuth.of(part.oauth or OAuthPart()),
            _places(files),
        )

    def _checked(self, strict: bool) -> Self:
        if strict and self.warnings:
            reason = self.warnings[0]
            raise JsapError("", reason, "correct it, or load without `strict`", self.source)
        return self


def load_profile(
    path: Path | str,
    *,
    fetch: Fetch | None = None,
    hosts: frozenset[str] = frozenset(),
    strict: bool = False,
    opened: Opened | None = None,
) -> Profile:
    """Read a profile and what it includes, each relative to the including file.

    What is on another host is asked by `fetch`, from `hosts` alone. With `strict` a warning is an
    error. `opened` is told of each file. Raises OSError when `path` cannot be read, JsapError for
    everything else.
    """
    files = Files(hosts=hosts) if fetch is None else Files(fetch, hosts)
    files.opened = opened or files.opened
    return Profile.of(files.read(Path(path)), str(path))._checked(strict)


def _endpoints(files: MergedFiles) -> Endpoints:
    part = files.part
    return Endpoints(
        part.host,
        part.sparql11protocol,
        part.sparql11seprotocol,
        {key: entry.part for key, entry in files.updates.items()},
        {key: entry.part for key, entry in files.queries.items()},
    )


def _places(files: MergedFiles) -> Mapping[str, str]:
    members = {"updates": files.updates, "queries": files.queries}
    return {
        f"{member}.{key}": entry.source
        for member, entries in members.items()
        for key, entry in entries.items()
    }


class _Compiler:
    """Makes templates of entries; collects warnings."""

    def __init__(self, source: str, namespaces: dict[str, str], graphs: Graphs) -> None:
        self._source = source
        self.namespaces: Mapping[str, str] = MappingProxyType(namespaces)
        self.graphs = graphs
        self.warnings: list[str] = []

    def templates(self, member: str, entries: Mapping[str, Entry]) -> Mapping[str, Template]:
        """Templates by id; `member` is `updates` or `queries`."""
        return MappingProxyType(
            {key: self._template(key, entry, f"{member}.{key}") for key, entry in entries.items()}
        )

    def _template(self, key: str, entry: Entry, path: str) -> Template:
        try:
            bindings = self._bindings(entry, path)
        except JsapError as error:
            raise error.at(entry.source) from error
        graphs = _over(self.graphs, _graphs(entry.part.graphs))
        due = entry.part.at if entry.part.delay is None else entry.part.delay
        part = entry.part
        over = self._over(entry, path)
        template = Template(
            key, part.sparql, bindings, graphs, self.namespaces, due, part.infer, over
        )
        for warning in self._due_warnings(entry, path):
            self._warn(entry, warning)
        if template.problem is not None:
            self._warn(entry, f"{path}.sparql: {template.problem}")
        else:
            for name in (name for name in bindings if name not in template.variables):
                self._warn(entry, f"{path}.forcedBindings.{name}: ?{name} does not occur")
        return template

    def _over(self, entry: Entry, path: str) -> dict[str, object]:
        """The windows of a query, and of whom it is asked; an update has none."""
        part = entry.part
        told = {name: getattr(part, name) for name in TOLD}
        if path.startswith("updates.") and (part.windows or any(told.values())):
            what = f"only a query has `windows`, {', '.join(f'`{name}`' for name in TOLD)}"
            self._warn(entry, f"{path}: {what}; passed over")
            return {}
        try:
            return over_members(part.windows, told, self.namespaces, path)
        except JsapError as error:
            raise error.at(entry.source) from error

    def _due_warnings(self, entry: Entry, path: str) -> Iterator[str]:
        part = entry.part
        if part.at is not None and part.delay is not None:
            raise JsapError(path, "both `at` and `delay`", "keep one of the two", entry.source)
        if path.startswith("queries.") and (part.at is not None or part.delay is not None):
            yield f"{path}: only an update waits; `at` and `delay` are passed over"

    def _bindings(self, entry: Entry, path: str) -> dict[str, ForcedBinding]:
        bindings: dict[str, ForcedBinding] = {}
        for name, part in entry.part.forced_bindings.items():
            place = f"{path}.forcedBindings.{name}"
            bindings[name], warnings = declared(part, self.namespaces, place)
            for warning in warnings:
                self._warn(entry, warning)
        return bindings

    def _warn(self, entry: Entry, warning: str) -> None:
        place = "" if entry.source == self._source else f"{entry.source}: "
        self.warnings.append(place + warning)


def _graphs(part: GraphsPart) -> Graphs:
    return Graphs(
        part.default_graph_uri,
        part.named_graph_uri,
        part.using_graph_uri,
        part.using_named_graph_uri,
    )


def _over(profile: Graphs, entry: Graphs) -> Graphs:
    """An entry's own graphs stand in place of the profile's, kind by kind."""
    return Graphs(
        entry.default_graph_uri or profile.default_graph_uri,
        entry.named_graph_uri or profile.named_graph_uri,
        entry.using_graph_uri or profile.using_graph_uri,
        entry.using_named_graph_uri or profile.using_named_graph_uri,
    )
