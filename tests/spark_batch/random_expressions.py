"""Random expressions of SPARQL that the archive answers exactly, whatever the variables are."""

from random import Random

VARIABLES = ("?v", "?s", "?t", "?u", "?n", "?nothing")
CONSTANTS = (
    *('"on"', '""', '"a"', "true", "false", "7", "21.5", "0", "-3", "1e3", "2.5e0", "<urn:t0>"),
    *("unit:DEG_C", "xsd:decimal", '"2026-09-02T00:00:00Z"^^xsd:dateTime', '"x"^^<urn:a:datatype>'),
)
_ORDERS = ("<", "<=", ">", ">=")
_JUDGES = ("isIRI", "isLiteral", "isNumeric", "isBlank", "BOUND")


def expression(chance: Random, depth: int) -> str:
    """Any expression; at most `depth` operators deep."""
    if depth == 0 or chance.random() < 0.15:
        return chance.choice(VARIABLES if chance.random() < 0.6 else CONSTANTS)
    make = chance.choice(
        (_compared, _compared, _logic, _logic, _negated, _listed, _judged, _chosen)
    )
    return make(chance, depth - 1)


def _compared(chance: Random, depth: int) -> str:
    operation = chance.choice(("=", "!=", *_ORDERS))
    return f"({expression(chance, depth)} {operation} {expression(chance, depth)})"


def _logic(chance: Random, depth: int) -> str:
    operation = chance.choice(("&&", "||"))
    return f"({expression(chance, depth)} {operation} {expression(chance, depth)})"


def _negated(chance: Random, depth: int) -> str:
    return f"(! {expression(chance, depth)})"


def _listed(chance: Random, depth: int) -> str:
    listed = ", ".join(chance.choice(CONSTANTS) for _ in range(chance.randrange(1, 4)))
    kind = chance.choice(("IN", "NOT IN"))
    return f"({expression(chance, depth)} {kind} ({listed}))"


def _judged(chance: Random, depth: int) -> str:
    judge = chance.choice(_JUDGES)
    inner = chance.choice(VARIABLES) if judge == "BOUND" else expression(chance, depth)
    return f"{judge}({inner})"


def _chosen(chance: Random, depth: int) -> str:
    if chance.random() < 0.5:
        return f"COALESCE({expression(chance, depth)}, {expression(chance, depth)})"
    parts = ", ".join(expression(chance, depth) for _ in range(3))
    return f"IF({parts})"
