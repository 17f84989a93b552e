"""Texts of one kind in any size, and the largest that a bound on form lets through."""

from collections.abc import Callable, Mapping

Form = Callable[[int], str]

_ONE = "?s <urn:a> ?b"


def _each(size: int, text: str, between: str = " ") -> str:
    return between.join(text.replace("%", str(number)) for number in range(size))


def _where(form: Form) -> Form:
    return lambda size: f"SELECT * {{ {form(size)} }}"


def _nested(begin: str, end: str) -> Form:
    return _where(lambda size: begin * size + _ONE + end * size)


JOINS: Mapping[str, Form] = {
    "chain": _where(lambda n: " . ".join(f"?v{i} <urn:p> ?v{i + 1}" for i in range(n))),
    "star": _where(lambda n: _each(n, "?s <urn:p%> ?v%", " . ")),
    "same": _where(lambda n: _each(n, "?s ?p ?o", " . ")),
    "object list": _where(lambda n: "?s <urn:p> " + _each(n, "?v%", ", ")),
    "property list": _where(lambda n: "?s " + _each(n, "<urn:p%> ?v%", " ; ")),
    "cross": _where(lambda n: _each(n, "?s% <urn:p> ?v%", " . ")),
    "clique": _where(
        lambda n: " . ".join(f"?v{i % 15} <urn:{i}> ?v{(i * 7 + 1) % 15}" for i in range(n))
    ),
    "filters between": _where(lambda n: _each(n, "?s <urn:p%> ?v% FILTER(?v% > 1)")),
    "groups": _where(lambda n: _each(n, "{ ?s <urn:p%> ?v% }")),
    "graphs": _where(lambda n: _each(n, "GRAPH ?g { ?s <urn:p%> ?v% }")),
    "optionals": _where(lambda n: _each(n, "OPTIONAL { ?s <urn:p%> ?v% }")),
    "unions": _where(lambda n: _each(n, "{ ?s <urn:p%> ?o } UNION { ?s <urn:q%> ?o }")),
    "sub-selects": _where(lambda n: _each(n, "{ SELECT ?s { ?s <urn:p%> ?o } }")),
    "tables": _where(lambda n: _each(n, "VALUES ?x% { 1 }")),
    "sequence": _where(lambda n: "?s " + _each(n, "<urn:p%>", "/") + " ?o"),
    "short construct": lambda n: "CONSTRUCT WHERE { " + _each(n, "?s <urn:p%> ?v%", " . ") + " }",
}
"""The size is how many patterns are joined."""

PATHS: Mapping[str, Form] = {
    "sequence": lambda n: _each(n, "<urn:p>", "/"),
    "repeated": lambda n: _each(n, "<urn:p>+", "/"),
    "optional": lambda n: _each(n, "<urn:p>?", "/"),
    "alternative": lambda n: _each(n, "<urn:p%>", "|"),
    "inverse": lambda n: _each(n, "^<urn:p>", "/"),
    "negated": lambda n: _each(n, "!<urn:p>", "/"),
}
"""The size is how many steps a path has."""

DEEP: Mapping[str, Form] = {
    "union": _where(lambda n: _each(n, "{ ?s <urn:p%> ?o }", " UNION ")),
    "filter": _where(lambda n: _each(n, "FILTER(?b != %)")),
    "bind": _where(lambda n: _each(n, "BIND(1 + % AS ?c%)")),
    "minus": _where(lambda n: _ONE + _each(n, " MINUS { ?s <urn:p%> ?o }")),
    "exists": _where(lambda n: _ONE + _each(n, " FILTER EXISTS { ?s <urn:p%> ?o }")),
    "or": _where(lambda n: f"{_ONE} FILTER({_each(n, '?b = %', ' || ')})"),
    "and": _where(lambda n: f"{_ONE} FILTER({_each(n, '?b != %', ' && ')})"),
    "columns": lambda n: f"SELECT {_each(n, '(?b + % AS ?c%)')} {{ {_ONE} }}",
    "plain columns": lambda n: f"SELECT {_each(n, '?c%')} {{ {_ONE} }}",
    "aggregates": lambda n: f"SELECT {_each(n, '(SUM(?b + %) AS ?c%)')} {{ {_ONE} }}",
    "group by": lambda n: f"SELECT (COUNT(*) AS ?n) {{ {_ONE} }} GROUP BY {_each(n, '(?b + %)')}",
    "having": lambda n: (
        f"SELECT (COUNT(*) AS ?n) {{ {_ONE} }} GROUP BY ?s HAVING {_each(n, '(?s != %)')}"
    ),
    "described": lambda n: f"DESCRIBE {_each(n, '<urn:%>')}",
    "table columns": lambda n: f"SELECT * {{ VALUES ({_each(n, '?x%')}) {{ ({_each(n, '1')}) }} }}",
}
"""The size is, but for a few, how many operators stand one in another."""

ORDERED: Mapping[str, Form] = {
    "order by": lambda n: f"SELECT * {{ {_ONE} }} ORDER BY {_each(n, '(?b + %)')}",
    "columns": lambda n: f"SELECT {_each(n, '?c%')} {{ {_ONE} }} LIMIT 5",
    "variables": lambda n: f"SELECT * {{ {_each(n, '?v% <urn:p> 1', ' . ')} }} OFFSET 5",
    "sub-select": lambda n: f"SELECT * {{ {{ SELECT {_each(n, '?c%')} {{ }} LIMIT 5 }} }}",
}
"""The size is how many keys or columns are ordered by."""

NESTED: Mapping[str, Form] = {
    "groups": _nested("{ ", "}"),
    "optionals": _nested(f"{_ONE} OPTIONAL {{ ", "}"),
    "minus": _nested(f"{_ONE} MINUS {{ ", "}"),
    "exists": _nested(f"{_ONE} FILTER EXISTS {{ ", "}"),
    "unions": _nested(f"{{ {_ONE} }} UNION {{ ", "}"),
    "graphs": _nested("GRAPH ?g { ", "}"),
    "sub-selects": _nested("{ SELECT * { ", "} }"),
    "brackets": _where(lambda n: f"{_ONE} FILTER({'(' * n}?b{')' * n})"),
    "negations": _where(lambda n: f"{_ONE} FILTER({'!' * n}?b)"),
    "sums": _where(lambda n: f"{_ONE} FILTER({_each(n, '?b', ' + ')} > 1)"),
    "calls": _where(lambda n: f"{_ONE} FILTER({'STR(' * n}?b{')' * n} = '')"),
    "paths": _where(lambda n: f"?s {'(' * n}<urn:p>{')*' * n} ?o"),
    "blank nodes": _where(lambda n: "?s <urn:p> " + "[ <urn:p> " * n + "1" + "]" * n),
    "collections": _where(lambda n: "?s <urn:p> " + "( " * n + "1" + ")" * n),
}
"""The size is how deep brackets, groups and operators nest."""

DATA: Mapping[str, Form] = {
    "rows": _where(lambda n: f"{_ONE} VALUES ?b {{ {_each(n, '%')} }}"),
    "options": _where(lambda n: f"{_ONE} FILTER(?b IN ({_each(n, '%', ', ')}))"),
    "arguments": _where(lambda n: f"{_ONE} BIND(COALESCE({_each(n, '%', ', ')}) AS ?c)"),
    "template": lambda n: f"CONSTRUCT {{ {_each(n, '?s <urn:%> ?b', ' . ')} }} {{ {_ONE} }}",
    "graphs": lambda n: f"SELECT * {_each(n, 'FROM <urn:%>')} {{ {_ONE} }}",
}
"""What no bound on form counts."""


def largest(is_admitted: Callable[[int], bool], most: int = 20_000) -> int:
    """The largest size that is admitted; every smaller one is."""
    low = 0
    while most - low > 1:
        middle = (low + most) // 2
        low, most = (middle, most) if is_admitted(middle) else (low, middle)
    return low
