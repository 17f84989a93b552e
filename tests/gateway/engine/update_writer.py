"""Writes random UPDATE requests: every operation of SPARQL 1.1 Update but LOAD.

Place: beside `query_writer`, of whose groups a WHERE is made.
"""

from collections.abc import Callable, Sequence
from random import Random

from tests.gateway.engine.query_writer import EDGES, GRAPHS, IRIS, VARIABLES, QueryWriter

PROLOGUE = "PREFIX u: <urn:>\n"
"""What one request in three begins with."""


class UpdateWriter(QueryWriter):
    """Writes requests; without `makes_blanks` they make no blank nodes, so equal stores stay so."""

    def __init__(self, random: Random, *, makes_blanks: bool = True) -> None:
        super().__init__(random)
        self._makes_blanks = makes_blanks

    def _in_graphs(self, triple: Callable[[], str], names: Sequence[str], most: int) -> str:
        """Quads between braces, some of them in a GRAPH."""

        def quads() -> str:
            inner = " ".join(self.some(triple, 1, 2))
            return inner if self.chance(2) else f"GRAPH {self.pick(*names)} {{ {inner} }}"

        return " ".join(self.some(quads, 1, most))

    def _data(self, blank: bool) -> str:
        labels = (self.fresh("_:l"), "[]") if blank and self._makes_blanks else ()

        def triple() -> str:
            subject = self.pick(*IRIS, *labels)
            return f"{subject} {self.pick(*EDGES)} {self.pick(self.node(), self.node(), *labels)} ."

        return f"{{ {self._in_graphs(triple, GRAPHS, 2)} }}"

    def _template(self, blank: bool) -> str:
        labels = (self.fresh("_:l"),) if blank and self._makes_blanks else ()

        def triple() -> str:
            subject = self.pick(*VARIABLES, *IRIS, *labels)
            edge = self.pick(*EDGES, *EDGES, *EDGES, "?y")
            target = self.pick(*VARIABLES, self.node(), *labels)
            return f"{subject} {edge} {target} ."

        return f"{{ {self._in_graphs(triple, (*GRAPHS, '?g', '?x'), 2)} }}"

    def modify(self, using: str | None = None) -> str:
        """DELETE/INSERT ... WHERE; `using` replaces the clauses before WHERE, WITH among them."""
        head = ""
        if using is None:
            head = self.pick("", "", "", "WITH <urn:g> ", "WITH <urn:h> ")
            using = self.pick(
                *("", "", "", "USING <urn:g> ", "USING NAMED <urn:h> "),
                *("USING <urn:g> USING <urn:h> ", "USING <urn:h> USING NAMED <urn:g> "),
            )
        match self.pick("delete", "insert", "both", "both"):
            case "delete":
                templates = f"DELETE {self._template(blank=False)} "
            case "insert":
                templates = f"INSERT {self._template(blank=True)} "
            case _:
                templates = (
                    f"DELETE {self._template(blank=False)} INSERT {self._template(blank=True)} "
                )
        return f"{head}{templates}{using}WHERE {self.group(self.depth())}"

    def depth(self) -> int:
        """The depth of a WHERE: deep ones seldom have a solution."""
        return self._random.choice((0, 0, 1, 1, 2))

    def _delete_where(self) -> str:
        def triple() -> str:
            edge = self.pick(*EDGES, *EDGES, "?e")
            target = self.pick("?x", "?y", "?y", "?z", self.node())
            return f"{self.pick('?x', '?x', '?y', *IRIS)} {edge} {target} ."

        return f"DELETE WHERE {{ {self._in_graphs(triple, (*GRAPHS, '?g'), 2)} }}"

    def _manage(self) -> str:
        silent = self.pick("", "SILENT ", "SILENT ")
        verb = self.pick("CLEAR", "DROP", "CREATE", "COPY", "MOVE", "ADD")
        graph = self.pick(*GRAPHS)
        if verb == "CREATE":
            return f"CREATE {silent}GRAPH {graph}"
        if verb in {"CLEAR", "DROP"}:
            target = self.pick(f"GRAPH {graph}", f"GRAPH {graph}", "DEFAULT", "NAMED", "ALL")
            return f"{verb} {silent}{target}"
        source, target = self.pick("DEFAULT", *GRAPHS), self.pick("DEFAULT", *GRAPHS)
        return f"{verb} {silent}{source} TO {target}"

    def operation(self) -> str:
        kinds = ("insert", "insert", "delete", "modify", "modify", "modify", "where", "where")
        match self.pick(*kinds, "manage"):
            case "insert":
                return f"INSERT DATA {self._data(blank=True)}"
            case "delete":
                return f"DELETE DATA {self._data(blank=False)}"
            case "modify":
                return self.modify()
            case "where":
                return self._delete_where()
            case _:
                return self._manage()

    def request(self, most: int = 3) -> str:
        """One to `most` operations, of which a later one sees what the earlier ones did."""
        text = " ;\n".join(self.some(self.operation, 1, most))
        if self.chance(3):
            return PROLOGUE + text.replace("<urn:q>", "u:q").replace("<urn:b>", "u:b")
        return text
