"""What is wrong with JSAP profiles, told before a gateway uses them.

Asked by `sosa-gateway check`, and when the files of a running gateway have changed. Nothing is
started and nothing is changed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QuerySolutions

from adapters.values.properties import BASE, VOCABULARY
from adapters.values.units import unit_defect
from gateway.actuation.actuators import Actuators
from gateway.actuation.templates import ActuationTemplates
from gateway.admin.onboarding.migration import inverted
from gateway.engine import Notification
from gateway.errors import GatewayError, SparqlSyntaxError
from gateway.ingest.mappings import MappingTable
from gateway.ingest.silence import AbsenceTemplates
from gateway.ingest.sosa import Identity, ObservationTemplates
from gateway.profiles import Profiles
from gateway.rdf.delta import quads_delta
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


def profile_problem(error: Exception, place: str) -> Finding:
    """The error at its own place where it knows one."""
    if not isinstance(error, JsapError):
        return Finding(place, str(error))
    path = f": {error.path}" if error.path else ""
    return Finding(f"{error.source or place}{path}", f"{error.reason}; {error.what_to_do}")


def profile_warnings(profile: Profile) -> Iterator[Finding]:
    """What is harmless."""
    for warning in profile.warnings:
        yield Finding(profile.source, str(warning), is_error=False)


def template_findings(profile: Profile | Profiles) -> Iterator[Finding]:
    """What is wrong with the SPARQL of the entries."""
    yield from _syntax(profile.places, "queries", profile.queries, parse_query)
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
        own = {name: together.query_text(name) for name in _OWN}
    except (JsapError, GatewayError) as error:
        yield profile_problem(error, place)
        return
    mappings = _answer(together.mappings, own["MAPPINGS"])
    yield from _mappings(together.places, mappings)
    yield from _old_names(together, f"{identity.base_iri}property/")
    yield from _actuators(together.places, _answer(together.mappings, own["ACTUATORS"]))
    yield from _rules(together.places, _answer(together.mappings, own["RULES"]), together.queries)


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
}
"""What a member of a mapping is called in a profile."""


def _actuators(homes: Mapping[str, str], told: Notification) -> Iterator[Finding]:
    actuators = Actuators()
    actuators.learn(told)
    for iri, reason in actuators.errors.items():
        yield Finding(homes.get(iri, ""), f"actuator <{iri}>: {reason}")


def _rules(
    homes: Mapping[str, str], rules: Notification, queries: Mapping[str, Template]
) -> Iterator[Finding]:
    for rule in rules.added:
        iri, query_id, text = str(rule["rule"]), rule.get("queryId"), rule.get("queryText")
        place = homes.get(iri[1:-1], "")
        if isinstance(query_id, Literal) and query_id.value not in queries:
            yield Finding(
                f"{place}.query", f"rule {iri}: no query {query_id.value} in the profiles"
            )
        elif isinstance(text, Literal):
            try:
                parse_query(text.value)
            except GatewayError as error:
                yield Finding(f"{place}.sparql", f"rule {iri}: {error}")


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
