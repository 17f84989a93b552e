"""What is wrong with JSAP profiles, told before a gateway uses them.

Asked by `sosa-gateway check`, and when the files of a running gateway have changed. Nothing is
started and nothing is changed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QuerySolutions, Triple

from adapters.values.properties import BASE, VOCABULARY
from adapters.values.units import unit_defect
from gateway.actuation.actuators import Actuators
from gateway.actuation.rules import rule_of
from gateway.actuation.templates import ActuationTemplates
from gateway.admin.mapping_graph import node_conditions
from gateway.admin.onboarding.migration import inverted
from gateway.admin.window_checks import window_defects
from gateway.engine import Engine, Notification
from gateway.engine.windowed.declaration import WINDOW, declared_window
from gateway.errors import GatewayError, SparqlSyntaxError, WindowError
from gateway.federation.asking.plain import asked_here
from gateway.ingest.mappings import MappingTable
from gateway.ingest.silence import AbsenceTemplates
from gateway.ingest.sosa import Identity, ObservationTemplates
from gateway.profiles import Profiles
from gateway.rdf.delta import quads_delta
from gateway.rdf.namespaces import MAPPINGS_GRAPH
from gateway.rdf.solutions import ResultsDelta
from gateway.sparql.parser import parse_query, parse_update
from gateway.store.quad_store import QuadStore
from jsap.errors import JsapError
from jsap.forced_bindings import BindingType, Term
from jsap.profile import Profile
from jsap.template import Template


@dataclass(frozen=True, slots=True)
class Finding:
    """Something at `place` (a setting, an IRI, a file with line or path); an error or a warning."""

    place: str
    reason: str
    is_error: bool = True
    what_to_do: str = ""

    @classmethod
    def of(cls, place: str, error: GatewayError) -> "Finding":
        """An error, with what it says to do."""
        return cls(place, error.description, what_to_do=error.hint)

    def __str__(self) -> str:
        advice = f"; {self.what_to_do}" if self.what_to_do else ""
        kind = "error" if self.is_error else "warning"
        return f"{kind}: {self.place}: {self.reason}{advice}"


def profile_problems(error: Exception, place: str) -> Iterator[Finding]:
    """The error, and those found with it, each at its own place where it knows one."""
    if not isinstance(error, JsapError):
        reason = getattr(error, "strerror", None) or str(error)
        yield Finding(
            place, reason, what_to_do="correct the name, or let the gateway read the file"
        )
        return
    for each in (error, *error.also):
        path = f": {each.path}" if each.path else ""
        yield Finding(f"{each.source or place}{path}", each.reason, what_to_do=each.what_to_do)


def profile_warnings(profile: Profile) -> Iterator[Finding]:
    """What is harmless."""
    for warning in profile.warnings:
        yield Finding(profile.source, str(warning), is_error=False)


def template_findings(profile: Profile | Profiles) -> Iterator[Finding]:
    """What is wrong with the SPARQL of the entries."""
    yield from _syntax(profile.places, "queries", profile.queries, parse_query)
    for place, defect in window_defects(profile.places, profile.queries):
        if isinstance(defect, GatewayError):
            yield Finding.of(place, defect)
        else:
            yield Finding(place, defect, is_error=False)
    yield from _syntax(profile.places, "updates", profile.updates, parse_update)


def _syntax(
    places: Mapping[str, str],
    member: str,
    templates: Mapping[str, Template],
    parse_text: Callable[[str], object],
) -> Iterator[Finding]:
    for key, template in templates.items():
        try:
            parse_text(_bound(template))
        except (SparqlSyntaxError, JsapError) as error:
            path = f"{member}.{key}"
            yield Finding(f"{places.get(path, '')}: {path}.sparql", str(error))


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


GRAPH_QUERIES = frozenset({"MAPPINGS", "ACTUATORS", "RULES"})
"""The queries by which the graph of mappings is read."""

_OWN = (
    *("STREAMS", "SERIES", "WATCHED", "CAPABILITIES", "MAPPINGS", "RULES"),
    *("ACTUATORS", "REQUESTED", "ACTUATIONS", "OBSERVATIONS"),
)
"""The queries that the gateway itself asks."""


def together_findings(together: Profiles, identity: Identity) -> Iterator[Finding]:
    """What is wrong with what the gateway makes of all profiles: its own templates and queries,
    mappings, actuators and rules.
    """
    place = ", ".join(together.sources)
    try:
        ObservationTemplates(together, identity)
        AbsenceTemplates(together, identity)
        ActuationTemplates(together)
        for name in _OWN:
            together.query_text(name)
    except (JsapError, GatewayError) as error:
        yield from profile_problems(error, place)
        return
    yield from _old_names(together, f"{identity.base_iri}property/")
    yield from _graph_findings(together, together.mappings, together.places)


def in_force(together: Profiles, identity: Identity, stored: Iterable[Quad]) -> list[Quad]:
    """The graph of mappings of a gateway that starts with a store.

    `stored` are the store's quads of that graph and of the graph of state.
    """
    store = QuadStore.open(None)
    store.apply(quads_delta(stored))
    store.apply(together.mappings_delta(store, identity.node))
    return store.match(None, None, None, MAPPINGS_GRAPH)


def stored_findings(together: Profiles, quads: Iterable[Quad], store: str) -> Iterator[Finding]:
    """What is wrong with mappings, actuators and rules as they stand in the graph of mappings.

    Those that stand there as in the profiles are told at their place in the file, the others by
    `store` and their IRI.
    """
    said, written = _by_node(quads), _by_node(together.mappings)
    changed = {node: told for node, told in said.items() if told != written.get(node)}
    broken = set()
    for node, told in changed.items():
        for wrong in node_conditions(node, told):
            broken.add(node)
            yield Finding(f"{store}: {node}", wrong.what, what_to_do=wrong.what_to_do)
    places = {node.value: f"{store}: {node}" for node in changed if isinstance(node, NamedNode)}
    rest = [quad for node, told in said.items() if node not in broken for quad in told]
    yield from _graph_findings(together, rest, {**together.places, **places})


def _by_node(quads: Iterable[Quad]) -> dict[NamedNode | BlankNode, set[Quad]]:
    nodes: dict[NamedNode | BlankNode, set[Quad]] = {}
    for quad in quads:
        if not isinstance(quad.subject, Triple):
            nodes.setdefault(quad.subject, set()).add(quad)
    return nodes


def _graph_findings(
    together: Profiles, quads: Iterable[Quad], places: Mapping[str, str]
) -> Iterator[Finding]:
    """By the tables that a gateway learns the quads with."""

    def told(query: str) -> Notification:
        return _answer(quads, together.query_text(query))

    yield from _mappings(places, told("MAPPINGS"))
    yield from _actuators(places, told("ACTUATORS"))
    yield from _rules(places, told("RULES"), together.queries)
    yield from _windows(places, quads)


def _windows(homes: Mapping[str, str], quads: Iterable[Quad]) -> Iterator[Finding]:
    """What keeps windows from being had by their names."""
    by_node = _by_node(quads)
    for node, said in by_node.items():
        if isinstance(node, NamedNode) and any(quad.object == WINDOW for quad in said):
            try:
                declared_window(node, said)
            except WindowError as error:
                yield Finding.of(homes.get(node.value, node.value), error)


def _old_names(together: Profiles, base: str) -> Iterator[Finding]:
    """Texts that name properties as they were called before they were the same at each gateway."""
    for place, text in together.texts().items():
        for prefix in sorted(set(re.findall(re.escape(base) + r"(\w*)", text))):
            if not prefix or prefix in VOCABULARY:
                reason = f"<{base}{prefix}> is <{BASE}{prefix}> now (docs/mappings.md)"
                yield Finding(place, reason, is_error=False)


def _mappings(homes: Mapping[str, str], mappings: Notification) -> Iterator[Finding]:
    table = MappingTable()
    table.learn(mappings)
    for iri in inverted(table.mappings):
        reason = "a contact is true when it is closed: give trueValue false, falseValue true"
        yield Finding(homes.get(iri, iri), reason, is_error=False)
    for mapping in table.mappings:
        for member in ("unit", "device_unit"):
            if defect := unit_defect(getattr(mapping, member)):
                place = f"{homes.get(mapping.iri, mapping.iri)}.{_KEYS.get(member, member)}"
                yield Finding(place, defect)
    for error in table.errors:
        member = _KEYS.get(error.member, error.member)
        yield Finding(f"{homes.get(error.mapping, '')}.{member}", str(error))


_KEYS = {
    "topic_filter": "topic",
    "observed_property": "property",
    "feature_of_interest": "feature",
    "time_selector": "time",
    "sequence_selector": "sequence",
    "device_unit": "deviceUnit",
    "true_value": "trueValue",
    "false_value": "falseValue",
    "expires_after": "expiresAfter",
    "availability_topic": "availability",
    "sensor_class": "sensorClass",
    "decimal_sign": "decimalSign",
}
"""What a member of a mapping is called in a profile."""


def _actuators(homes: Mapping[str, str], told: Notification) -> Iterator[Finding]:
    actuators = Actuators()
    actuators.learn(told)
    for iri, actuator in actuators.by_iri.items():
        for member in ("unit", "device_unit"):
            if defect := unit_defect(getattr(actuator, member)):
                yield Finding(f"{homes.get(iri, iri)}.{_KEYS.get(member, member)}", defect)
    for iri, reason in actuators.errors.items():
        yield Finding(homes.get(iri, ""), f"actuator <{iri}>: {reason}")


def _rules(
    homes: Mapping[str, str], told: Notification, queries: Mapping[str, Template]
) -> Iterator[Finding]:
    """What keeps rules from being in force, by what puts them in force."""
    with closing(Engine.open(None)) as engine:
        for row in told.added:
            iri = str(row["rule"])
            member = "query" if row.get("queryId") else "sparql"
            try:
                engine.subscribe(asked_here(rule_of(row, queries).request()))
            except (ValueError, GatewayError) as error:
                place = homes.get(iri[1:-1], "")
                yield Finding(f"{place}.{member}", f"rule {iri}: {error}")


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
