"""A plan run step by step: the whole answer of a query when it comes.

Place: beside the compiled tries, which are for what goes on. Rows come one by one, so that who
asks may stop.
"""

from collections.abc import Iterable, Iterator, Sequence

from gateway.engine.automaton import plan as steps
from gateway.engine.automaton.conditions import Conditions
from gateway.engine.automaton.plan import Plan, Step
from gateway.engine.automaton.terms import IntRow
from gateway.engine.automaton.window_index import WindowIndex


def rows(plan: Plan, index: WindowIndex, conditions: Conditions) -> Iterator[IntRow]:
    """The rows of all matches; the index must not change meanwhile."""
    for bound in _extended(plan.steps, (), index, conditions):
        for row in plan.rows:
            yield tuple([_value(ref, bound) for ref in row])


def _extended(
    left: Sequence[Step], bound: IntRow, index: WindowIndex, conditions: Conditions
) -> Iterator[IntRow]:
    if not left:
        yield bound
        return
    for found in _found(left[0], bound, index, conditions):
        yield from _extended(left[1:], (*bound, *found), index, conditions)


def _found(
    step: Step, bound: IntRow, index: WindowIndex, conditions: Conditions
) -> Iterable[IntRow]:
    """What a step binds, once for each way to go on; a test that holds binds nothing, once."""
    if step[0] == steps.TEST:
        values = [_value(ref, bound) for ref in step[2:]]
        return [()] if conditions.test(step[1])(*values) else ()
    refs = [_value(ref, bound) for ref in step[1:]]
    match step[0]:
        case steps.IS | steps.SAME:
            return [()] if refs[0] == refs[1] else ()
        case steps.HAS:
            return [()] if index.has(*refs) else ()
        case steps.OBJECTS:
            return [(value,) for value in index.all_objects.get(refs[0], {}).get(refs[1], ())]
        case steps.SUBJECTS:
            return [(value,) for value in index.all_subjects.get(refs[0], {}).get(refs[1], ())]
        case steps.AROUND:
            return index.around.get(refs[0], ())
        case steps.INTO:
            return index.into.get(refs[0], ())
        case steps.PAIRS:
            table = index.all_objects.get(refs[0], {})
            return ((subject, value) for subject, values in table.items() for value in values)
        case steps.ALL:
            return index
    raise ValueError(f"a whole answer has no step {step}")


def _value(ref: int, bound: IntRow) -> int:
    return bound[ref] if ref >= 0 else ~ref
