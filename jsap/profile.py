"""`Profile`: a JSAP file with what it includes, its templates ready to bind.

Place on the way of the data: read once at the start, by the gateway, the clients and the batch
jobs. Source: JSAP. What shipped files do wrong without harm is a warning.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from jsap.declarations import declared
from jsap.errors import JsapError
from jsap.file_format import GraphsPart, Sparql11Protocol, Sparql11SeProtocol, profile_part
from jsap.forced_bindings import ForcedBinding
from jsap.includes import Entry, MergedFiles, read_files
from jsap.namespaces import DEFAULT_NAMESPACES
from jsap.template import Graphs, Template

__all__ = ["JsapError", "Profile", "load_profile"]


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile. `source` names its file; `extended` is free JSON; `warnings` are for people.

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

    @classmethod
    def parse(cls, members: Mapping[str, object], *, source: str = "profile") -> Self:
        """A profile from JSON members, without `include`. Raises JsapError."""
        part = profile_part(members, source)
        if part.include:
            raise JsapError("include", "relative to no folder", "load it from a file", source)
        return cls.of(MergedFiles.of(part, source), source)

    @classmethod
    def of(cls, files: MergedFiles, source: str) -> Self:
        """A profile from its files. Raises JsapError for a declaration that cannot be kept."""
        part = files.part
        compiler = _Compiler(
            source, {**DEFAULT_NAMESPACES, **part.namespaces}, _graphs(part.graphs)
        )
        updates = compiler.templates("updates", files.updates)
        queries = compiler.templates("queries", files.queries)
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
        )


def load_profile(path: Path | str) -> Profile:
    """Read a profile and what it includes, each relative to the folder of the including file.

    Raises OSError when `path` cannot be read, JsapError for everything else.
    """
    return Profile.of(read_files(Path(path)), str(path))


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
        template = Template(key, entry.part.sparql, bindings, graphs, self.namespaces)
        if template.problem is not None:
            self._warn(entry, f"{path}.sparql: {template.problem}")
        else:
            for name in (name for name in bindings if name not in template.variables):
                self._warn(entry, f"{path}.forcedBindings.{name}: ?{name} does not occur")
        return template

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
