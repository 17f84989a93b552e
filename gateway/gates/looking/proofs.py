"""A proof as it is told: its steps in a list, each once, the conclusion first.

Place: under `why`, which says of the asserted ones where they came from.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyoxigraph import Quad

from gateway.gates.looking.why_answers import StepTold
from gateway.rdf.rights import Rights
from gateway.reasoning.why import Proof
from gateway.reasoning.wording import axiom_text, quad_text

Prove = Callable[[Quad, Rights], Proof]
"""Why a quad follows; raises NotFoundError for one that does not, and other GatewayErrors."""

MOST_STEPS = 200
"""Of a longer proof the beginning is told."""

HIDDEN = "in a graph that you may not read"


@dataclass(frozen=True, slots=True)
class Listed:
    """The steps of a proof by their numbers, breadth first: a premise is behind what it is of."""

    steps: tuple[Proof, ...]

    @classmethod
    def of(cls, proof: Proof) -> "Listed":
        """Each step once, though it may stand in several places."""
        found: dict[int, Proof] = {id(proof): proof}
        steps = [proof]
        for step in steps:
            for premise in step.premises:
                if len(steps) < MOST_STEPS and (premise.is_hidden or id(premise) not in found):
                    found[id(premise)] = premise
                    steps.append(premise)
        return cls(tuple(steps))

    @property
    def asserted(self) -> list[Quad]:
        """The quads that the proof rests on, as far as the asker may know."""
        found = [
            step.conclusion
            for step in self.steps
            if step.axiom is None and step.conclusion is not None and not step.premises
        ]
        return list(dict.fromkeys(found))

    def told(self, sources: Mapping[Quad, str]) -> list[StepTold]:
        """As JSON, with who wrote the asserted ones."""
        numbers: dict[int, int] = {}
        for number, step in enumerate(self.steps):
            numbers.setdefault(id(step), number)
        return [self._step(step, numbers, sources) for step in self.steps]

    @staticmethod
    def _step(step: Proof, numbers: Mapping[int, int], sources: Mapping[Quad, str]) -> StepTold:
        quad = step.conclusion
        return StepTold(
            quad=None if quad is None else f"{quad} .",
            text=HIDDEN if quad is None else quad_text(quad),
            asserted=quad is not None and step.axiom is None and not step.premises,
            hidden=step.is_hidden,
            axiom="" if step.axiom is None else axiom_text(step.axiom),
            premises=[numbers[id(each)] for each in step.premises if id(each) in numbers],
            source="" if quad is None else sources.get(quad, ""),
        )
