"""Which SPUs may live in a worker process, and which are better there.

Asked once per SPU by `ParallelProcessing`. One whose answer is cheaper than a message stays
with the scheduler. So do those that read the clock, those with rights that hide something (which
graphs there are, only the store knows), those whose CTS would be a copy of a graph, and those that
LIMIT or SAMPLE: of equal datasets in two stores they may take different rows.
"""

from gateway.engine.spu import Subject, Unit
from gateway.runtime.text_cache import remembered
from gateway.sparql import algebra
from gateway.sparql.parser import parse_query
from gateway.sparql.scope import walk

_CHEAP = frozenset({"single pattern", "booster"})
_CHOOSING = frozenset({"SAMPLE", "GROUP_CONCAT"})


def belongs_in_worker(subject: Subject, unit: Unit) -> bool:
    """Whether a worker gives the same answers, so that the scheduler may do something else."""
    return (
        unit.tier not in _CHEAP
        and not subject.clocked
        and not subject.is_prompt
        and subject.readable is None
        and all(entry.subject or entry.predicate or entry.object for entry in unit.lutt)
        and not _chooses(subject.text)
    )


def is_order_dependent(text: str) -> bool:
    """Whether the answer may depend on the order in which solutions are found.

    Sums of floats do, and the greatest of `1` and `1.0`: the terms differ, not the meaning.
    """
    return any(
        isinstance(node, algebra.Aggregate) and node.name != "COUNT"
        for node in walk(parse_query(text))
    )


@remembered()
def _chooses(text: str) -> bool:
    """Whether the query takes some solutions and leaves others that are as good."""
    for node in walk(parse_query(text)):
        match node:
            case algebra.Query(limit=limit, offset=offset, reduced=reduced):
                if reduced or limit is not None or offset is not None:
                    return True
            case algebra.Aggregate(name=name) if name in _CHOOSING:
                return True
            case _:
                pass
    return False
