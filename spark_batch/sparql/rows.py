"""The rows of a scan with the terms that a pattern asks for.

Place on the way of the data: between patterns (without Spark) and solutions.
"""

import re
from collections.abc import Mapping

from pyoxigraph import BlankNode, NamedNode
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jsap.shapes.nodes import Constant, Variable
from jsap.shapes.patterns import KINDS, POSITION, QUANTITY, VALUE, Attached, Scan, Use
from jsap.shapes.refusal import refused
from jsap.shapes.shape import Mark, Part
from spark_batch.sparql.solutions import Solutions
from spark_batch.sparql.term import Term, constant, iri, result, same, time
from spark_batch.transforms.rdf import is_named, is_position, is_quantity, is_suspect
from spark_batch.transforms.terms import ingest_time, terms

_OWN = re.compile(r".*/([^/]+)/observation/([0-9]{1,18})-([0-9]{1,18})(?:/[a-z]+)?")


def solutions(scan: Scan, rows: DataFrame) -> Solutions:
    """A solution for each row of the archive that a scan asks for."""
    rows = rows.where("kind = 'observation'").where(is_named()).where(_of_kinds(scan))
    bound = scan.bound()
    for use in scan.uses:
        for condition in _conditions(use, bound):
            rows = rows.where(condition)
    found = {name: part_term(part) for name, part in bound.items()}
    partial: set[str] = set()
    for optional in scan.optionals:
        further = _optional(optional, bound)
        found |= further
        partial |= further.keys()
    answer = Solutions.of(rows, found, partial)
    return answer.distinct() if scan.distinct else answer


def _of_kinds(scan: Scan | Attached) -> Column:
    if not scan.kinds:
        return F.lit(False)
    is_one = F.lit(True)
    if scan.kinds != KINDS:
        kind = F.when(is_quantity(), QUANTITY).when(is_position(), POSITION).otherwise(VALUE)
        is_one = kind.isin(*sorted(scan.kinds))
    return is_one & is_suspect() if scan.suspect else is_one


def _optional(optional: Attached, bound: Mapping[str, Part]) -> dict[str, Term]:
    """The variables that an OPTIONAL adds, unbound in rows that do not have all of it."""
    condition = _of_kinds(optional)
    own: dict[str, Part] = {}
    for use in optional.uses:
        known = {**own, **bound}
        for each in _conditions(use, known):
            condition &= F.coalesce(each, F.lit(False))
        if isinstance(use.node, Variable) and use.node.name not in known:
            own[use.node.name] = use.part
    return {name: part_term(part).where(condition) for name, part in own.items()}


def _conditions(use: Use, bound: Mapping[str, Part]) -> list[Column]:
    """What must hold of a row so that a node is its term."""
    if not isinstance(use.node, Variable):
        return _is_constant(use.part, use.node)
    first = bound.get(use.node.name, use.part)
    if first == use.part:
        return []
    return [same(part_term(first), part_term(use.part))]


def _is_constant(part: Part, node: Constant) -> list[Column]:
    if part == node:
        return []
    conditions = [same(part_term(part), constant(node))]
    identity = _OWN.fullmatch(node.value) if isinstance(node, NamedNode) else None
    if (
        identity
        and isinstance(part, Mark)
        and part.name in ("observation", "resultNode", "instant")
    ):
        gateway, epoch, sequence = identity.groups()
        conditions += [
            F.col("gateway") == gateway,
            F.col("epoch") == int(epoch),
            F.col("sequence") == int(sequence),
        ]
    return conditions


def part_term(part: Part) -> Term:
    """The term of a row that a part of a shape is."""
    if isinstance(part, BlankNode):
        raise refused("a blank node of the profile", "name the nodes in its templates")
    if not isinstance(part, Mark):
        return constant(part)
    if part.is_iri:
        return iri(terms()[part.name])
    if part.name == "result" and part.datatype is None:
        return result()
    if part.name in ("resultTime", "phenomenonStamp"):
        return time(F.col("result_time"))
    if part.name == "ingestedAt":
        return time(ingest_time())
    raise refused(
        f"the binding {part.name} of the profile as a literal",
        "query with a profile that has results and times as the shipped one",
    )
