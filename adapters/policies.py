"""`Policies`: what the mappings of a topic say of every result, whatever the format.

Place on the way: the registry applies them to what its adapters found, once for a message. Policy
for retained messages: facts of MQTT 3.1.1, 3.3.1.3; a broker sends the last retained message at
each subscription, and does not say how old it is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from adapters.adapter import Findings
from adapters.values.mapping import Retained
from adapters.values.notice import Heartbeat, Liveness
from adapters.values.observation import Observation
from adapters.values.stream import Stream


@dataclass(frozen=True, slots=True)
class Policies:
    """By the `order` of a stream: worth of its retained results, silence that is absence (s)."""

    retained: Mapping[int, Retained]
    expires_after_s: Mapping[int, float]

    @classmethod
    def of(cls, streams: Iterable[Stream]) -> "Policies":
        """The policies of all streams of a topic."""
        known = tuple(streams)
        return cls(
            {stream.order: stream.retained for stream in known},
            {
                stream.order: stream.expires_after_s
                for stream in known
                if stream.expires_after_s is not None
            },
        )

    def apply(self, findings: Findings, *, is_retained: bool) -> None:
        """Change the findings of one message to what the policies make of them."""
        if is_retained:
            kept = ((order, self._retained(order, seen)) for order, seen in findings.observations)
            findings.observations = [(order, seen) for order, seen in kept if seen is not None]
            findings.notices = [
                each for each in findings.notices if not isinstance(each, Heartbeat)
            ]
        elif self.expires_after_s:
            findings.notices += self._promises(findings.observations)

    def _retained(self, order: int, seen: Observation) -> Observation | None:
        policy = self.retained[order]
        if seen.phenomenon_time is not None:
            return seen
        if policy is Retained.DROP:
            return None
        is_seed = policy is Retained.SEED
        how = replace(seen.circumstances, seed=is_seed, historical=not is_seed)
        return replace(seen, circumstances=how)

    def _promises(self, observations: Iterable[tuple[int, Observation]]) -> list[Liveness]:
        """That there will be another observation of each stream in time."""
        limits = self.expires_after_s
        found = {seen.stream: limits.get(order) for order, seen in observations}
        return [Liveness(key, True, limit_s) for key, limit_s in found.items() if limit_s]
