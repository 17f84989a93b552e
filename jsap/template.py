"""`Template`: an UPDATE or a query of a profile, to be bound and rendered.

Place on the way of the data: an observation's values become the forced bindings of an UPDATE here;
the store evaluates text and bindings, or a remote endpoint gets the rendered text. Source: JSAP,
`updates` and `queries`; SPARQL 1.1 Query, 19.8.

Terms stand in for variable tokens, never for characters: a variable's name inside a string, a
comment or an IRI stays, and no value can end the term that it is in. Every occurrence counts, those
in a subselect too; MINUS does not see a bound variable as one that both sides share.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pyoxigraph import BlankNode, Literal, NamedNode

from jsap.errors import BindingError, JsapError
from jsap.forced_bindings import BindingType, ForcedBinding, Term, Value
from jsap.lexer import LexError, Token, TokenKind, splice, tokenize
from jsap.namespaces import DEFAULT_NAMESPACES
from jsap.rows import rows_edits
from jsap.sparql_terms import written
from jsap.variable_places import Place, Role, variable_places


@dataclass(frozen=True, slots=True)
class Graphs:
    """The dataset of a profile or of an entry: graph IRIs, named as the SPARQL Protocol does."""

    default_graph_uri: tuple[str, ...] = ()
    named_graph_uri: tuple[str, ...] = ()
    using_graph_uri: tuple[str, ...] = ()
    using_named_graph_uri: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Template:
    r"""A SPARQL text with the declarations of the variables to bind before it is sent.

    `text` has a PREFIX for each of the profile's namespaces that `sparql` uses and does not
    declare; `variables` are the names in it, without `?`, as they come. An update with `due` is a
    delayed one: executed at that time, or so long after it was sent. `infer` says whether it asks
    for what follows too, None leaves that to the broker; `over` are the members `windows`,
    `output`, `mode`, `gateways` and `absent` of a request to subscribe, where it has some. A text
    that has no tokens may be kept, `problem` says why; it cannot be rendered.

    >>> label = ForcedBinding(BindingType.LITERAL)
    >>> name = Template("NAME", "INSERT { <urn:a> rdfs:label ?o } WHERE {}", {"o": label})
    >>> print(name.render(name.bind({"o": 'the "a"'})))
    PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
    INSERT { <urn:a> rdfs:label "the \"a\"" } WHERE {}
    """

    id: str
    sparql: str
    forced_bindings: Mapping[str, ForcedBinding] = field(default_factory=dict)
    graphs: Graphs = Graphs()
    namespaces: Mapping[str, str] = field(default_factory=lambda: DEFAULT_NAMESPACES)
    due: datetime | timedelta | None = None
    infer: bool | None = None
    over: Mapping[str, object] = field(default_factory=dict)
    text: str = field(init=False)
    variables: tuple[str, ...] = field(init=False)
    problem: str | None = field(init=False)
    _places: tuple[Place, ...] = field(init=False, repr=False, compare=False)
    _iris: frozenset[str] = field(init=False, repr=False, compare=False)
    _datatypes: dict[str, NamedNode | None] = field(init=False, repr=False, compare=False)
    _defaults: dict[str, Term] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        problem = None
        try:
            text = with_prologue(self.sparql, self.namespaces)
            places = variable_places(tokenize(text))
        except LexError as error:
            text, places, problem = self.sparql, (), str(error)
        self._set("text", text)
        self._set("variables", tuple(dict.fromkeys(place.name for place in places)))
        self._set("problem", problem)
        self._set("_places", places)
        bindings = self.forced_bindings.items()
        uris = frozenset(key for key, each in bindings if each.binding_type is BindingType.URI)
        self._set("_iris", uris)
        literals = {key: each.datatype for key, each in bindings if _needs_no_more(each)}
        self._set("_datatypes", literals)
        defaults = {key: each.default for key, each in bindings if each.default is not None}
        self._set("_defaults", defaults)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def bind(self, values: Mapping[str, Value]) -> dict[str, Term]:
        """The forced bindings: the profile's values, replaced and completed by the caller's.

        Raises BindingError for a variable that is not declared, a value that does not fit, and a
        declared variable of the text that has no value.
        """
        terms = self.bound(values)
        if len(terms) < len(self.forced_bindings):
            self._require(terms)
        return terms

    def bound(self, values: Mapping[str, Value]) -> dict[str, Term]:
        """As `bind`, for who wants some of the forced bindings: others may have no value."""
        terms = self._defaults.copy()
        iris, datatypes = self._iris, self._datatypes
        for name, value in values.items():
            # what ingest gives are terms of the right kind: nothing is called for those
            if (type(value) is NamedNode and name in iris) or (
                type(value) is Literal
                and name in datatypes
                and ((datatype := datatypes[name]) is None or value.datatype == datatype)
            ):
                terms[name] = value
            else:
                terms[name] = self._term(name, value)
        return terms

    def takes_all_like(self, name: str, term: Term, *, of_any_datatype: bool = False) -> bool:
        """Whether `bind` takes all IRIs, or all literals of one or any datatype, as they are."""
        if isinstance(term, NamedNode):
            return name in self._iris
        if not isinstance(term, Literal) or name not in self._datatypes:
            return False
        wanted = self._datatypes[name]
        return wanted is None or (wanted == term.datatype and not of_any_datatype)

    def _term(self, name: str, value: Value) -> Term:
        binding = self.forced_bindings.get(name)
        if binding is None:
            raise self._error(name, "not declared", f"bind {_listed(self.forced_bindings)}")
        try:
            return binding.term(value)
        except ValueError as error:
            raise self._error(name, str(error), f"give {binding.wanted}") from error

    def _require(self, terms: Mapping[str, Term]) -> None:
        for name in self.variables:
            binding = self.forced_bindings.get(name)
            if binding is not None and name not in terms:
                raise self._error(name, "no value", f"give {binding.wanted}")

    def render(self, terms: Mapping[str, Term]) -> str:
        """`text` with the terms in place of their variables, as a request for any endpoint.

        A bound column stays a column: `SELECT ?v` becomes `SELECT (<term> AS ?v)`, in a subselect
        under a new name. A blank node is written as its label, which in a pattern matches
        anything. Names that do not occur are passed over. Raises BindingError where a bound
        variable is assigned in the text, JsapError for a text with a `problem`.
        """
        if self.problem is not None:
            raise JsapError(f"template {self.id}", self.problem, "correct the SPARQL text")
        bound = ((place, terms.get(place.name)) for place in self._places)
        return splice(
            self.text,
            (
                (place.start, place.end, self._replacement(place, term))
                for place, term in bound
                if term is not None
            ),
        )

    def render_rows(self, rows: Sequence[Mapping[str, Value]]) -> str:
        """`text` for several rows of values at once, by VALUES, as a request for any endpoint.

        One row is rendered as its terms; more are told apart in the answer by their columns, and
        equal ones are one. Raises BindingError as `bind` and `render` do, and for what VALUES
        cannot say: blank nodes, and variables where no solution comes to.
        """
        bound = [self.bind(row) for row in rows]
        if not bound:
            raise JsapError(f"template {self.id}", "no row of values", "give one, or do not ask")
        if len(bound) == 1:
            return self.render(bound[0])
        columns = {name for row in rows for name in row}
        alike = {name: term for name, term in bound[0].items() if name not in columns}
        text = self.render(alike)
        tokens = tokenize(text)
        several = [{name: row[name] for name in sorted(columns & row.keys())} for row in bound]
        return splice(text, rows_edits(self.id, tokens, variable_places(tokens), several))

    def _replacement(self, place: Place, term: Term) -> str:
        match place.role:
            case Role.TERM:
                return written(term)
            case Role.KEY:
                return f"({written(term)})"
            case Role.BOUND:
                return "(true)"
            case Role.COLUMN | Role.INNER_COLUMN if isinstance(term, BlankNode):
                return f"?{place.name}"
            case Role.COLUMN:
                return f"({written(term)} AS ?{place.name})"
            case Role.INNER_COLUMN:
                return f"({written(term)} AS ?{place.name}_bound_{place.start})"
            case Role.TARGET:
                raise self._error(
                    place.name, "the text itself assigns it (AS or VALUES)", "do not bind it"
                )

    def _error(self, variable: str, reason: str, what_to_do: str) -> BindingError:
        return BindingError(self.id, variable, reason, what_to_do)


def _needs_no_more(binding: ForcedBinding) -> bool:
    """Whether a literal fits when its datatype does."""
    return binding.binding_type is BindingType.LITERAL and binding.language is None


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(f"?{name}" for name in names) or "nothing"


def with_prologue(sparql: str, namespaces: Mapping[str, str]) -> str:
    """The text with a PREFIX for each namespace that it uses and does not declare before.

    Raises LexError.
    """
    used = (prefix for prefix in _undeclared(tokenize(sparql)) if prefix in namespaces)
    return "".join(f"PREFIX {prefix}: <{namespaces[prefix]}>\n" for prefix in used) + sparql


def _undeclared(tokens: Sequence[Token]) -> Iterator[str]:
    """Prefixes whose first use is no declaration, each once."""
    seen: set[str] = set()
    before = ""
    for token in tokens:
        if token.kind is TokenKind.PNAME:
            prefix = token.text.partition(":")[0]
            if prefix not in seen and before != "PREFIX":
                yield prefix
            seen.add(prefix)
        before = token.text.upper()
