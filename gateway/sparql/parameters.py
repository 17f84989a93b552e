"""Parameters: constants of a text for which others may stand, read by the parser as variables.

Place: between `shape`, which finds the constants of a text, and the parser, which alone knows
where a variable may stand in place of one. A parameter's variable has a hidden name, as the blank
node of a pattern has (`algebra.is_hidden`), so no text can name it and `SELECT *` has no column
for it; it is bound in every solution. Where no variable may stand (FROM, LIMIT, a path, the IRI
of a function, VALUES ...) the parser leaves the constant as it is, and `found` does not have it.
"""

from collections.abc import Mapping

from pyoxigraph import Variable

from gateway.sparql.algebra import HIDDEN_PREFIX

Span = tuple[int, int]
"""Start and end of a constant in a text, in characters; of a prefixed name it begins at the `:`."""


def parameter_name(number: int) -> str:
    """The name of the variable of a parameter."""
    return f"{HIDDEN_PREFIX}p{number}"


class Parameters:
    """Which constants of a text are parameters, and what the parser found out about them.

    After the parser is done, `found` has the spans that were read as variables, with the prefix
    of a prefixed name; `prefixes` and `base` are the prologue in force at all of them.
    """

    __slots__ = ("_names", "base", "found", "prefixes")

    def __init__(self, names: Mapping[Span, str]) -> None:
        self._names = {span[1]: (span, name) for span, name in names.items()}
        self.found: dict[Span, str | None] = {}
        self.prefixes: dict[str, str] | None = None
        self.base = ""

    def name(self, span: Span) -> str:
        """The name of the parameter with this span."""
        return self._names[span[1]][1]

    @property
    def missing(self) -> frozenset[Span]:
        """The spans where no variable may stand."""
        return frozenset(span for span, _ in self._names.values()) - self.found.keys()

    def stand_in(
        self, span: Span, prefix: str | None, prefixes: Mapping[str, str], base: str
    ) -> Variable | None:
        """The variable for the constant with this span, if it is a parameter.

        One prologue must hold for all: where a later one differs, the constant stays.
        """
        at, name = self._names.get(span[1], (None, ""))
        if at != span:
            return None
        if self.prefixes is None:
            self.prefixes, self.base = dict(prefixes), base
        elif self.base != base or self.prefixes != prefixes:
            return None
        self.found[span] = prefix
        return Variable(name)
