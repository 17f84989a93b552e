r"""Shapes: texts that differ in their constants alone share one compiled plan.

Place: before the parser, for the text of each UPDATE and SUBSCRIBE. One regular expression divides
a text into its constants (IRIs, the local parts of prefixed names, strings with language or
datatype, numbers) and what is between them, in microseconds and without grammar. Texts with the
same in between are a family. The first text of a family is compiled as it is. Where the second one
differs, and only there, the constants become parameters of a plan that both share; constants that
are always equal to each other stay so (the lamp that an UPDATE names three times is one parameter).

Exact, since the parser decides: a constant is a parameter only if the parser read it, whole, where
a variable may stand. And what the regular expression takes for a constant at such a place is what
the lexer takes for one: both use the same terminals. So with the parameters bound to its
constants, the plan of a family means what the text means.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar

from gateway.errors import SparqlSyntaxError
from gateway.rdf.terms import Term
from gateway.sparql.constant_reader import constant_reader
from gateway.sparql.parameters import Parameters, Span, parameter_name
from jsap.lexer import ESCAPED_CHAR, LANGTAG, LOCAL_NAME, PREFIXED_NAME

LONGEST_TEXT = 16_384
"""Characters; a longer text is a bulk load, whose shape does not come again."""

MOST_CHARACTERS = 1 << 20
"""Of the texts that plans were learnt from; then all are forgotten, and learnt again."""

MOST_FAMILIES = 1024
MOST_GROUPS = 64
MOST_PLANS = 8
"""For each choice of the constants that cannot be parameters; then they are made one."""

_IRI = r"""[^\x00-\x20<>"{}|^`\\]*+>"""
_TAIL = rf"(?:{LANGTAG}|\^\^(?:<{_IRI}|{PREFIXED_NAME}))?+"
_DOUBLE_QUOTED = rf'""(?:"{{0,2}}(?:[^"\\]|{ESCAPED_CHAR}))*+"""|(?:[^"\\\n\r]++|{ESCAPED_CHAR})*+"'
_SINGLE_QUOTED = rf"''(?:'{{0,2}}(?:[^'\\]|{ESCAPED_CHAR}))*+'''|(?:[^'\\\n\r]++|{ESCAPED_CHAR})*+'"
_EXPONENT = r"[eE][+-]?[0-9]++"
_NUMBER = (
    r"(?<![\w?$:.\-].)(?:(?<=[0-9])|(?=\.?[0-9]))"
    rf"[0-9]*+(?:\.[0-9]*+{_EXPONENT}|\.[0-9]++|{_EXPONENT})?+"
)
# A class of first characters, so that the search skips all others quickly; then by that character.
_CONSTANT = re.compile(
    r"([<:\"'#0-9+\-](?:"
    rf"(?<=<){_IRI}|(?<=:)(?:{LOCAL_NAME})?+"
    rf'|(?<=")(?:{_DOUBLE_QUOTED}){_TAIL}'
    rf"|(?<=')(?:{_SINGLE_QUOTED}){_TAIL}"
    rf"|(?<=\#)[^\r\n]*+|{_NUMBER}))"
)
_KINDS = str.maketrans(dict.fromkeys("'+-0123456789", '"'))
"""The kind of a constant is its first character; all literals are one kind."""

Plan = TypeVar("Plan")
Constants = tuple[str, ...]
_Key = tuple[tuple[str, ...], str]
_Pick = Callable[[Sequence[str]], object]


def divide(text: str) -> tuple[list[str], list[str]] | None:
    r"""What is between the constants of a text, and the constants; None for a text without shape.

    The pieces, one more than constants, and the constants make up the text again.

    >>> divide('DELETE DATA { <urn:a> x:b "c"@en, -1.5 }')
    (['DELETE DATA { ', ' x', ' ', ', ', ' }'], ['<urn:a>', ':b', '"c"@en', '-1.5'])
    """
    if len(text) > LONGEST_TEXT or ("\\" in text and ("\\u" in text or "\\U" in text)):
        return None  # an escaped code point may be anything, a brace too
    parts = _CONSTANT.split(text)
    return parts[::2], parts[1::2]


class Instance(NamedTuple, Generic[Plan]):
    """A text as a plan that it shares, and the terms of the plan's parameters by their names."""

    plan: Plan
    bindings: dict[str, Term]


class SharedPlans(Generic[Plan]):
    """The plans of the texts seen lately.

    `compile_text` is given a text and which of its constants are parameters (none: the text as it
    is); it hands both to `parse_update` or `parse_query` and makes a plan of what they say. It
    raises SparqlSyntaxError for a text that is wrong. One thread calls `find`.

    >>> from gateway.sparql.parser import parse_update
    >>> shapes = SharedPlans(lambda text, parameters: parse_update(text, parameters=parameters))
    >>> shapes.find("INSERT DATA { <urn:a> <urn:p> 1 }") is None
    True
    >>> first = shapes.find("INSERT DATA { <urn:b> <urn:p> 1 }")
    >>> again = shapes.find("INSERT DATA { <urn:c> <urn:p> 1 }")
    >>> again.plan is first.plan, [str(term) for term in again.bindings.values()]
    (True, ['<urn:c>'])
    """

    def __init__(self, compile_text: Callable[[str, Parameters], Plan]) -> None:
        self._compile = compile_text
        self._forget()

    def _forget(self) -> None:
        self._family: Callable[[_Key], _Family[Plan]] = lru_cache(MOST_FAMILIES)(_Family[Plan].of)
        self._learnt = 0

    def find(self, text: str) -> Instance[Plan] | None:
        """The text as a plan that others share; None where the caller compiles it as it is.

        Raises what `compile_text` raises for a text that is wrong.
        """
        divided = divide(text)
        if divided is None or not divided[1]:
            return None
        between, constants = divided
        kinds = "".join([constant[0] for constant in constants]).translate(_KINDS)
        family = self._family((tuple(between), kinds))
        group = family.group(constants)
        for general in group.plans:
            bindings = general.bind(constants)
            if bindings is not None:
                return Instance(general.plan, bindings)
        self._learnt += len(text)
        if self._learnt > MOST_CHARACTERS:
            self._forget()
            return None
        return self._learn(text, family, group, tuple(constants), between)

    def _learn(
        self,
        text: str,
        family: "_Family[Plan]",
        group: "_Group[Plan]",
        constants: Constants,
        between: list[str],
    ) -> Instance[Plan] | None:
        """Generalise over the last text of the group; first of all, remember this one."""
        last, group.last = group.last, constants
        if last is None or last == constants:
            return None
        is_full = len(group.plans) >= MOST_PLANS
        seen = [constants, last, *(general.witness for general in group.plans if is_full)]
        sets = _varying(seen)
        spans = _spans(between, constants)
        names = {
            spans[position]: parameter_name(number)
            for number, positions in enumerate(sets)
            for position in positions
        }
        parameters = Parameters(names)
        try:
            plan = self._compile(text, parameters)
        except SparqlSyntaxError:
            self._compile(text, Parameters({}))  # raises where the text itself is wrong
            missing = frozenset(names)
        else:
            missing = parameters.missing
        if missing:
            family.fix(position for position, span in enumerate(spans) if span in missing)
            family.group(constants).last = constants
            return None
        general = _General(plan, constants, sets, spans, parameters)
        group.plans = [general] if is_full else [general, *group.plans]
        bindings = general.bind(constants)
        return None if bindings is None else Instance(plan, bindings)


class _General(Generic[Plan]):
    """A plan with parameters: `sets` are the positions of the constants that each stands for."""

    __slots__ = ("_equal", "_fixed", "_is_fixed", "_others", "_readers", "plan", "witness")

    def __init__(
        self,
        plan: Plan,
        witness: Constants,
        sets: Sequence[Sequence[int]],
        spans: Sequence[Span],
        parameters: Parameters,
    ) -> None:
        self.plan = plan
        self.witness = witness
        varying = {position for positions in sets for position in positions}
        self._is_fixed = _picker([p for p in range(len(witness)) if p not in varying])
        self._fixed = self._is_fixed(witness)
        again = [(positions[0], other) for positions in sets for other in positions[1:]]
        self._equal = _picker([first for first, _ in again])
        self._others = _picker([other for _, other in again])
        self._readers = [
            (parameter_name(number), positions[0], constant_reader(spans[positions[0]], parameters))
            for number, positions in enumerate(sets)
        ]

    def bind(self, constants: Sequence[str]) -> dict[str, Term] | None:
        """The terms of the parameters for a text of the family; None if it is not of this plan."""
        if self._is_fixed(constants) != self._fixed:
            return None
        if self._equal(constants) != self._others(constants):
            return None
        try:
            return {name: read(constants[at]) for name, at, read in self._readers}
        except (SparqlSyntaxError, ValueError):
            return None  # no term: the parser says what is wrong, and where


class _Group(Generic[Plan]):
    """The texts of a family that agree in the constants that cannot be parameters."""

    __slots__ = ("last", "plans")

    def __init__(self) -> None:
        self.last: Constants | None = None
        self.plans: list[_General[Plan]] = []


class _Family(Generic[Plan]):
    """The texts that are equal between their constants, whose kinds are equal, too."""

    __slots__ = ("_groups", "_pick", "_rigid")

    def __init__(self) -> None:
        self._rigid: set[int] = set()
        self._pick: _Pick = _picker(())
        self._groups: dict[object, _Group[Plan]] = {}

    @classmethod
    def of(cls, key: _Key) -> "_Family[Plan]":
        """A new family; the key is remembered by the cache."""
        del key
        return cls()

    def group(self, constants: Sequence[str]) -> _Group[Plan]:
        """The group of a text, made if missing."""
        rigid = self._pick(constants)
        group = self._groups.get(rigid)
        if group is None:
            if len(self._groups) >= MOST_GROUPS:
                del self._groups[next(iter(self._groups))]
            group = self._groups[rigid] = _Group()
        return group

    def fix(self, positions: Iterable[int]) -> None:
        """Note that the constants at these positions cannot be parameters."""
        self._rigid.update(positions)
        self._pick = _picker(sorted(self._rigid))
        self._groups.clear()


def _picker(positions: Sequence[int]) -> _Pick:
    """What is at these positions, in a form that can be compared and hashed."""
    return itemgetter(*positions) if positions else lambda _: ()


def _varying(seen: Sequence[Constants]) -> list[list[int]]:
    """The positions where texts differ, those that always agree with each other together."""
    columns: dict[Constants, list[int]] = {}
    for position, column in enumerate(zip(*seen, strict=True)):
        if any(constant != column[0] for constant in column):
            columns.setdefault(column, []).append(position)
    return list(columns.values())


def _spans(between: Sequence[str], constants: Sequence[str]) -> list[Span]:
    spans: list[Span] = []
    end = 0
    for piece, constant in zip(between, constants, strict=False):
        start = end + len(piece)
        end = start + len(constant)
        spans.append((start, end))
    return spans
