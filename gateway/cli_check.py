"""`sosa-gateway check`: everything that would stop or surprise a gateway, told before it runs.

Place on the way of the data: before it. Reads the configuration's profiles, their SPARQL, the
mappings and rules in them, and the ontologies that ship; starts nothing, changes nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QuerySolutions, RdfFormat, parse

import ontologies
from gateway.config import Config
from gateway.engine import Notification
from gateway.errors import ConfigurationError, GatewayError, SparqlSyntaxError
from gateway.fetch import HttpFetch
from gateway.mappings import MappingTable
from gateway.profiles import Profiles, read_profile
from gateway.rdf.delta import quads_delta
from gateway.rdf.solutions import ResultsDelta
from gateway.shipping import open_zone
from gateway.shipping.zones import read_token
from gateway.sosa import Identity, ObservationTemplates
from gateway.sparql.parser import parse_query, parse_update
from gateway.store.quad_store import QuadStore
from gateway.store.remote import Remote
from jsap.errors import JsapError
from jsap.extended import mapping_quads
from jsap.forced_bindings import BindingType, Term
from jsap.profile import Profile
from jsap.template import Template

ONTOLOGIES = Path(ontologies.__path__[0])

_OWN_QUERIES = ("STREAMS", "SERIES", "WATCHED", "CAPABILITIES", "MAPPINGS", "RULES")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something at `place` (a file, with line or path); an error unless it is a warning."""

    place: str
    reason: str
    is_error: bool = True

    def __str__(self) -> str:
        return f"{'error' if self.is_error else 'warning'}: {self.place}: {self.reason}"


def check(config: Config) -> list[Finding]:
    """Every finding, in the order in which the gateway would meet them."""
    findings = [*_password(config), *_shipping(config), *_ontologies(ONTOLOGIES)]
    profiles: dict[Path, Profile] = {}
    fetch = HttpFetch(config.remote.load_bytes, config.remote.load_s)
    remote = Remote(frozenset(config.remote.hosts), fetch)
    for path in config.jsap.profiles:
        try:
            profiles[path] = read_profile(path, remote)
        except (JsapError, OSError) as error:
            findings.append(profile_problem(error, str(path)))
    for path, profile in profiles.items():
        findings += profile_findings(path, profile)
    if len(profiles) == len(config.jsap.profiles):
        findings += _together(profiles, config)
    return findings


def profile_problem(error: Exception, place: str) -> Finding:
    """The error at its own place where it knows one."""
    if not isinstance(error, JsapError):
        return Finding(place, str(error))
    path = f": {error.path}" if error.path else ""
    return Finding(f"{error.source or place}{path}", f"{error.reason}; {error.what_to_do}")


def _password(config: Config) -> Iterator[Finding]:
    try:
        config.mqtt.read_password()
    except ConfigurationError as error:
        yield Finding("mqtt", str(error))


def _shipping(config: Config) -> Iterator[Finding]:
    settings = config.shipping
    try:
        if settings.to:
            open_zone(settings.to, settings.options, settings.token_file, settings.ca_file)
            read_token(settings.token_file)
    except ConfigurationError as error:
        yield Finding("shipping", str(error))


def _ontologies(folder: Path) -> Iterator[Finding]:
    for path in sorted(folder.glob("*.ttl")):
        try:
            for _ in parse(path=str(path), format=RdfFormat.TURTLE):
                pass
        except SyntaxError as error:
            yield Finding(f"{path}:{error.lineno}", f"not Turtle: {error.msg}")


def profile_findings(path: Path, profile: Profile) -> Iterator[Finding]:
    """Warnings of the profile, and what is wrong with its SPARQL."""
    for warning in profile.warnings:
        yield Finding(str(path), str(warning), is_error=False)
    yield from _syntax(path, "queries", profile.queries, parse_query)
    yield from _syntax(path, "updates", profile.updates, parse_update)


def _syntax(
    path: Path, member: str, templates: Mapping[str, Template], parse_text: Callable[[str], object]
) -> Iterator[Finding]:
    for key, template in templates.items():
        try:
            parse_text(_bound(template))
        except (SparqlSyntaxError, JsapError) as error:
            yield Finding(f"{path}: {member}.{key}.sparql", str(error))


def _bound(template: Template) -> str:
    """The text with something in place of each declared variable: DATA has no variables."""
    if template.problem is not None:
        return template.text
    examples: dict[BindingType, Term] = {
        BindingType.URI: NamedNode("urn:x"),
        BindingType.BNODE: BlankNode("x"),
    }
    declared = template.forced_bindings.items()
    return template.render(
        {name: examples.get(each.binding_type, Literal("x")) for name, each in declared}
    )


def _together(profiles: Mapping[Path, Profile], config: Config) -> Iterator[Finding]:
    """What the gateway would make of all profiles: its own templates, mappings and rules."""
    place = ", ".join(map(str, profiles))
    try:
        together = Profiles.of(list(profiles.values()), list(map(str, profiles)))
        ObservationTemplates(together, Identity(config.gateway.base_iri, config.gateway.id))
        own = {name: together.query_text(name) for name in _OWN_QUERIES}
    except (JsapError, GatewayError) as error:
        yield profile_problem(error, place)
        return
    homes = {
        str(quad.subject): str(path)
        for path, profile in profiles.items()
        for quad in mapping_quads(profile)
    }
    yield from _mappings(homes, _answer(together.mappings, own["MAPPINGS"]))
    yield from _rules(homes, _answer(together.mappings, own["RULES"]), together.queries)


def _mappings(homes: Mapping[str, str], mappings: Notification) -> Iterator[Finding]:
    table = MappingTable()
    table.learn(mappings)
    for error in table.errors:
        yield Finding(homes[f"<{error.mapping}>"], str(error))


def _rules(
    homes: Mapping[str, str], rules: Notification, queries: Mapping[str, Template]
) -> Iterator[Finding]:
    for rule in rules.added:
        iri, query_id, text = str(rule["rule"]), rule.get("queryId"), rule.get("queryText")
        if isinstance(query_id, Literal) and query_id.value not in queries:
            yield Finding(homes[iri], f"rule {iri}: no query {query_id.value} in the profiles")
        elif isinstance(text, Literal):
            try:
                parse_query(text.value)
            except GatewayError as error:
                yield Finding(homes[iri], f"rule {iri}: {error}")


def _answer(quads: Iterable[Quad], text: str) -> Notification:
    """What a subscriber would be told first if the store had the quads and nothing else."""
    store = QuadStore.open(None)
    store.apply(quads_delta(quads))
    solutions = store.query(text)
    results = ResultsDelta(())
    if isinstance(solutions, QuerySolutions):
        variables = tuple(variable.value for variable in solutions.variables)
        results = ResultsDelta(variables, tuple(tuple(each) for each in solutions))
    return Notification("check", 0, None, 0, results)
