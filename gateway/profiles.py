"""The JSAP profiles of a gateway, taken together: updates, queries, mappings, ontologies.

A later profile replaces entries of an earlier one by id, so a user's `observations` templates can
stand in place of those that ship.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from gateway.errors import ConfigurationError, GatewayError
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.delta import Delta, quads_delta
from gateway.rdf.namespaces import GW, MAPPINGS_GRAPH, STATE_GRAPH
from gateway.reasoning.loaded import NO_ONTOLOGIES, Ontologies, united
from gateway.reasoning.ontologies import OntologyFile, ontology_path
from gateway.store.bundles.shape import Shape, shape_of
from gateway.store.quad_store import QuadStore
from gateway.store.remote import Remote
from gateway.store.update import BoundUpdate, UpdatePlan, compile_update
from jsap import JsapError, Profile
from jsap.errors import BindingError
from jsap.extended.quads import mapping_quads, node_paths, ontologies_of
from jsap.files import Opened
from jsap.profile import load_profile
from jsap.template import Template

_LOADED = NamedNode(GW + "loadedMappings")


@dataclass(frozen=True, slots=True)
class Listed:
    """The ontologies that the configuration names; with `annotations` all that these say."""

    paths: tuple[Path, ...] = ()
    annotations: bool = False


NOTHING_LISTED = Listed()


@dataclass(frozen=True, slots=True)
class ProfileChanges:
    """Where two differ: ids of updates and queries, IRIs of mappings and rules, ontologies."""

    updates: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    mappings: tuple[str, ...] = ()
    ontologies: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing has changed."""
        return not (self.updates or self.queries or self.mappings or self.ontologies)


@dataclass(frozen=True, slots=True)
class Profiles:
    """Several profiles as one; `sources` names their files.

    `places` says in which file an entry (`updates.SEND`) or a mapping or rule (its IRI) stands; for
    those with the JSON path behind it.
    """

    sources: tuple[str, ...]
    updates: Mapping[str, Template]
    queries: Mapping[str, Template]
    mappings: tuple[Quad, ...]
    places: Mapping[str, str] = field(default_factory=dict)
    ontologies: Ontologies = NO_ONTOLOGIES

    def texts(self) -> Mapping[str, str]:
        """The SPARQL texts, with their prefixes, by the file and entry that they stand in."""
        every = {
            **{f"updates.{id_}": template for id_, template in self.updates.items()},
            **{f"queries.{id_}": template for id_, template in self.queries.items()},
        }
        return {
            f"{self.places.get(path, '')} {path}".strip(): template.text
            for path, template in every.items()
        }

    @classmethod
    def load(
        cls,
        paths: Sequence[Path],
        remote: Remote | None = None,
        opened: Opened | None = None,
        listed: Listed = NOTHING_LISTED,
    ) -> Self:
        """Read the files, and what they include from hosts that `remote` allows.

        `listed` are the ontologies that the configuration names. `opened` is told of each file.
        Raises ConfigurationError naming the file and the JSON path, OntologyError.
        """
        try:
            profiles = [read_profile(path, remote or Remote(), opened) for path in paths]
            together = cls.of(profiles, [str(path) for path in paths])
            return replace(together, ontologies=_ontologies(listed, profiles, opened))
        except JsapError as error:
            raise ConfigurationError(str(error), "sosa-gateway check tells more") from error
        except OSError as error:
            raise ConfigurationError(
                f"the JSAP profile {error.filename} cannot be read: {error.strerror}",
                "correct [jsap] profiles, or let the gateway read the file",
            ) from error

    @classmethod
    def of(cls, profiles: Sequence[Profile], sources: Sequence[str] = ()) -> Self:
        """Put profiles together. Raises JsapError for wrong mappings."""
        updates = {key: each for profile in profiles for key, each in profile.updates.items()}
        queries = {key: each for profile in profiles for key, each in profile.queries.items()}
        mappings = tuple(
            canonical_quad(quad) for profile in profiles for quad in mapping_quads(profile)
        )
        places = {key: place for profile in profiles for key, place in _places(profile)}
        return cls(tuple(sources), updates, queries, mappings, places)

    def query_text(self, name: str) -> str:
        """The text of a query that the gateway itself needs. Raises ConfigurationError."""
        return self._needed(self.queries, name, "query").text

    def update(self, name: str) -> Template:
        """The template of an update that the gateway itself needs. Raises ConfigurationError."""
        return self._needed(self.updates, name, "update")

    def changes(self, new: "Profiles") -> ProfileChanges:
        """What `new` says otherwise; order and layout of the files say nothing."""
        nodes = {str(quad.subject)[1:-1] for quad in set(self.mappings) ^ set(new.mappings)}
        files = set(self.ontologies.files) ^ set(new.ontologies.files)
        return ProfileChanges(
            _differing(self.updates, new.updates),
            _differing(self.queries, new.queries),
            tuple(sorted(nodes)),
            tuple(sorted({str(file.path) for file in files})),
        )

    def lacking(self, error: BindingError) -> ConfigurationError:
        """The error for an update of the gateway's own that cannot be bound, with its place."""
        path = f"updates.{error.template}"
        return ConfigurationError(
            f"{self.places.get(path, ', '.join(self.sources))}: {path}.forcedBindings."
            f"{error.variable}: {error.reason}",
            "give this template the forced bindings of the one that ships in observations.jsap",
        )

    def mappings_delta(self, store: QuadStore, gateway: NamedNode) -> Delta:
        """The change that brings the profiles' mappings into the store, once for each content.

        Mappings in the store are the truth: as long as the profiles do not change, what an UPDATE
        did to them stays. When they do, the nodes that they name are written anew, and those that
        they named before and name no more are removed.
        """
        mark = Quad(gateway, _LOADED, Literal(self._mark()), STATE_GRAPH)
        if mark in store:
            return Delta()
        old_marks = list(store.match(gateway, _LOADED, None, STATE_GRAPH))
        named = {quad.subject for quad in self.mappings}.union(*map(_nodes_of, old_marks))
        old = {quad for node in named for quad in store.match(node, None, None, MAPPINGS_GRAPH)}
        return quads_delta(
            [mark, *(quad for quad in self.mappings if quad not in old)],
            [*old_marks, *(old - set(self.mappings))],
        )

    def delta(self, store: QuadStore, gateway: NamedNode) -> Delta:
        """The change that brings mappings and ontologies into the store. Raises OntologyError."""
        return united((self.mappings_delta(store, gateway), self.ontologies.delta(store, gateway)))

    def _mark(self) -> str:
        """A digest of the mappings and, behind it, the IRIs of their nodes."""
        digest = sha256("\n".join(sorted(map(str, self.mappings))).encode()).hexdigest()
        nodes = {
            quad.subject.value for quad in self.mappings if isinstance(quad.subject, NamedNode)
        }
        return " ".join([digest, *sorted(nodes)])

    def _needed(self, templates: Mapping[str, Template], name: str, kind: str) -> Template:
        try:
            return templates[name]
        except KeyError:
            raise ConfigurationError(
                f"the profiles {', '.join(self.sources)} have no {kind} {name}",
                'put "observations" first in [jsap] profiles, it ships with the gateway',
            ) from None


class UpdateTemplates:
    """Some of the profiles' updates, compiled."""

    def __init__(self, profiles: Profiles, names: Iterable[str]) -> None:
        """Raises ConfigurationError or SparqlSyntaxError for a template missing or wrong."""
        self._templates = {name: _compiled(profiles.update(name)) for name in names}

    def bind(self, name: str, values: Mapping[str, NamedNode | Literal]) -> BoundUpdate:
        """One with its values. Raises BindingError for a value missing or of another kind."""
        template, plan = self._templates[name]
        return plan, template.bind(values)

    def bound(
        self, name: str, values: Mapping[str, NamedNode | Literal]
    ) -> Mapping[str, NamedNode | Literal | BlankNode]:
        """Some of the forced bindings of one. Raises BindingError for a value of another kind."""
        return self._templates[name][0].bound(values)

    def plan(self, name: str) -> UpdatePlan:
        """One without values."""
        return self._templates[name][1]

    def shape(self, name: str, minted: Collection[str]) -> Shape | None:
        """The shape of one with these names for subjects of its own; None where it has none."""
        return shape_of(self._templates[name][1].text, minted)

    def takes_all_like(
        self,
        name: str,
        terms: Mapping[str, NamedNode | Literal],
        of_any_datatype: Collection[str] = (),
    ) -> bool:
        """Whether one takes whatever has kind and datatype of one of these terms, as it is."""
        template, _ = self._templates[name]
        return all(
            template.takes_all_like(key, term, of_any_datatype=key in of_any_datatype)
            for key, term in terms.items()
        )

    def text(self, name: str) -> str:
        """The text of one of them."""
        return self._templates[name][1].text

    def texts(self, names: Iterable[str]) -> tuple[str, ...]:
        """The texts of some of them."""
        return tuple(map(self.text, names))


def _ontologies(listed: Listed, profiles: Iterable[Profile], opened: Opened | None) -> Ontologies:
    """The ontologies of the configuration, then those of the profiles. Raises OntologyError."""
    paths = [*listed.paths]
    for profile in profiles:
        place = f"{profile.source}: extended.ontologies"
        paths += [ontology_path(word, place) for word in ontologies_of(profile)]
    if opened is not None:
        for path in paths:
            opened(path)
    return Ontologies(tuple(map(OntologyFile.at, dict.fromkeys(paths))), listed.annotations)


def _compiled(template: Template) -> tuple[Template, UpdatePlan]:
    return template, compile_update(template.text)


def _differing(old: Mapping[str, Template], new: Mapping[str, Template]) -> tuple[str, ...]:
    keys = sorted({*old, *new})
    return tuple(key for key in keys if _said(old.get(key)) != _said(new.get(key)))


def _said(template: Template | None) -> object:
    """What a template means, wherever its prefixes come from."""
    if template is None:
        return None
    asked = template.graphs, template.infer, template.over
    return template.text, template.forced_bindings, template.due, asked


def _places(profile: Profile) -> Iterator[tuple[str, str]]:
    yield from profile.places.items()
    for iri, path in node_paths(profile).items():
        yield iri, f"{profile.source}: {path}"


def _nodes_of(mark: Quad) -> set[NamedNode]:
    """The nodes that a mark in the store names."""
    value = mark.object
    return (
        {NamedNode(iri) for iri in value.value.split()[1:]} if isinstance(value, Literal) else set()
    )


def read_profile(path: Path, remote: Remote, opened: Opened | None = None) -> Profile:
    """A profile and what it includes, from hosts that `remote` allows too. Raises as jsap does."""
    hosts = frozenset(urlsplit(f"//{host}").hostname or "" for host in remote.hosts)
    return load_profile(path, fetch=partial(_fetched, remote), hosts=hosts, opened=opened)


def _fetched(remote: Remote, url: str) -> str:
    """The text of an included file. Raises ValueError, OSError."""
    if remote.fetch is None or not remote.allows(url):
        raise ValueError("[remote] hosts does not name this host with this port")
    try:
        return remote.fetch(url).content.decode("utf-8-sig")
    except GatewayError as error:
        raise OSError(str(error)) from error
