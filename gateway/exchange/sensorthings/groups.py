"""`Scope`: the variables of one group of a SPARQL text, and what it says so far.

Place: between `patterns`, which have names, and `translation`, which needs variables. A group
around lends variables to one in EXISTS; what they are called there is decided here.
"""

import re
from collections.abc import Mapping, Sequence

from gateway.exchange.sensorthings.model import Set
from gateway.exchange.sensorthings.patterns import DEFINITIONS, TABLES, Alternative

_VARIABLE = re.compile(r"\?([A-Za-z]\w*)")


class Scope:
    """One way in which entities of a set stand in the graph, in a group of its own.

    `shared` are names that are variables of the group around.
    """

    def __init__(
        self, of: Set, alternative: Alternative, number: int, shared: Mapping[str, str]
    ) -> None:
        self.set = of
        self._suffix = str(number) if number else ""
        self._given = alternative.given
        self._called = dict(shared)
        self._lent = frozenset(shared.values())
        for name, other in alternative.is_named.items():
            if name in self._called:
                self._called[other] = self._called[name]
            else:
                self._called[name] = self.variable(other)
        self._texts = [self.written(alternative.text)]
        self._has: set[str] = set()

    def variable(self, name: str) -> str:
        """The variable of a name.

        >>> Scope(Set.SENSORS, Alternative(""), 2, {"thing": "?thing"}).variable("sensor")
        '?sensor2'
        """
        return self._called.get(name) or f"?{name}{self._suffix}"

    def written(self, text: str) -> str:
        """A text with the variables of this group."""
        return _VARIABLE.sub(lambda match: self.variable(match[1]), text)

    def need(self, name: str) -> None:
        """Have the group say what a name is."""
        if name in self._has or name in self._given or name in self._called:
            return
        self._has.add(name)
        if name in TABLES:
            self._texts.append(self._table(*TABLES[name]))
            return
        definition = DEFINITIONS.get(name)
        if definition is not None:
            needs, text = definition
            for each in needs:
                self.need(each)
            self._texts.append(self.written(text))

    def _table(self, keys: Sequence[str], text: str) -> str:
        """A sub-SELECT, which does not see the group around: what that lends is compared."""
        lent = {key: f"?{key}Of{self._suffix}" for key in keys if self._is_lent(key)}
        local = _VARIABLE.sub(lambda found: lent.get(found[1]) or self.variable(found[1]), text)
        same = [f"{other} = {self.variable(key)}" for key, other in lent.items()]
        condition = f" FILTER({' && '.join(same)})" if same else ""
        return f"OPTIONAL {{ {{ {local} }}{condition} }}"

    def _is_lent(self, name: str) -> bool:
        return self.variable(name) in self._lent

    @property
    def text(self) -> str:
        """All that the group says."""
        return " ".join(filter(None, self._texts))
