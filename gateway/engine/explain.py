"""`Explanation`: how the engine serves a query, and what that has cost.

A query is served as a whole by one tier; what it looks at are
the entries of its LUTT, what it looks up the CTS has, if it is not too big.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gateway.engine.lutt import LuttEntry
from gateway.engine.spu import Change
from gateway.reasoning.axioms import Axiom
from gateway.windows.info import WindowInfo
from gateway.windows.window import OUTPUTS, Window

_MOST_AXIOMS = 10
"""Axioms that are spelled out for an entry."""


@dataclass(slots=True)
class Costs:
    """What a unit has done so far: updates processed, time, rows told to SPUs."""

    updates: int = 0
    time_ns: int = 0
    rows: int = 0

    def add(self, time_ns: int, changes: Sequence[Change]) -> None:
        """One more update."""
        self.updates += 1
        self.time_ns += time_ns
        for _, results in changes:
            self.rows += len(results.added) + len(results.removed)


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a query is served, or would be, where `is_subscribed` is False.

    `refused` are the tiers that would be cheaper, each with the reason why it is not exact here.
    `members` are the SPUs that share the work, of which each has its own values for the
    `parameters`. `cts` are the LUTT entries that are looked up, with the quads that the CTS keeps
    for them; 0: the store is asked. `hits` are the updates that reached this query, `costs` are
    those of all members together. `alike` are the units, this one among them, that are asked about
    a change only once it is known to concern them. `in_worker`: it is served by another process,
    which counts them. `view` is "asserted" or "entailed": whether what follows is looked at too;
    `fed_by` are the axioms that can conclude a quad of an entry, where that was asked for.
    `windows` are those that it looks at, by IRI; `automaton` counts what an automaton has of it,
    of which `members` are all SPUs, and `rows` of the costs the matches.
    `output` is what its subscribers are told of its rows; in the `mode` "event" it is asked of each
    compound event alone, and `lutt` are the patterns that an event must match.
    """

    query: str
    tier: str
    refused: Mapping[str, str]
    lutt: Sequence[LuttEntry]
    cts: Mapping[LuttEntry, int]
    members: int = 0
    parameters: int = 0
    hits: int = 0
    costs: Costs = field(default_factory=Costs)
    is_subscribed: bool = False
    alike: int = 0
    in_worker: bool = False
    view: str = "asserted"
    fed_by: Mapping[LuttEntry, Sequence[Axiom]] = field(default_factory=dict)
    windows: Mapping[str, WindowInfo] = field(default_factory=dict)
    automaton: Mapping[str, int] = field(default_factory=dict)
    output: str = "changes"
    mode: str = "union"

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        served = "served" if self.is_subscribed else "would be served"
        lines = [self.query.strip(), f"  {served} by the tier: {self.tier}"]
        lines += [f"  not {tier}: {reason}" for tier, reason in self.refused.items()]
        if self.view != "asserted":
            lines.append(f"  on the {self.view} view")
        if self.mode != "union":
            lines.append(f"  in mode {self.mode}: asked of each compound event alone")
        if self.output != "changes":
            lines.append(f"  told: {self.output}")
        lines += [f"  window {iri}: {info}" for iri, info in self.windows.items()]
        if self.automaton:
            counts = self.automaton.items()
            parts = ", ".join(_counted(count, name.removesuffix("s")) for name, count in counts)
            lines.append(f"  automaton: {parts}")
        lines += self._looked_at()
        if self.in_worker:
            lines.append("  in a worker process, which keeps its own costs")
        elif self.is_subscribed:
            if self.alike > 1:
                lines.append(f"  one of {self.alike} of a family: asked for what concerns it")
            lines += [
                self._sharing(),
                f"  reached by {self.hits} updates; all members: {self.costs.updates} processed, "
                f"{self.costs.time_ns / 1e6:.3f} ms, {self.costs.rows} rows",
            ]
        return lines

    def _looked_at(self) -> Iterator[str]:
        """The LUTT, with what the CTS keeps; each is spelled out where it comes first."""
        table, context = "LUTT (look-up triples table)", "CTS, context triple store"
        for entry in self.lutt:
            kept = ""
            if quads := self.cts.get(entry):
                kept, context = f"  ({context}: {_counted(quads, 'quad')})", "CTS"
            yield f"  {table} {_entry_text(entry)}{kept}"
            table = "LUTT"
            axioms = self.fed_by.get(entry, ())
            yield from (f"    concluded by {axiom}" for axiom in axioms[:_MOST_AXIOMS])
            if len(axioms) > _MOST_AXIOMS:
                yield f"    and by {_counted(len(axioms) - _MOST_AXIOMS, 'other axiom')}"

    def _sharing(self) -> str:
        if self.members == 1:
            return "  of 1 SPU (SPARQL processing unit), shared with no other"
        if self.automaton:
            return f"  by one automaton for the {self.members} SPUs (SPARQL processing units)"
        differ = _counted(self.parameters, "constant")
        return f"  shared by {self.members} SPUs (SPARQL processing units) that differ in {differ}"


@dataclass(frozen=True, slots=True)
class Standing:
    """One subscription as it is served now.

    `lutt` are the entries of its unit, `cts_quads` what the CTS keeps for them, `members` the SPUs
    that share the unit and `costs`. Where `in_worker` another process serves it: the rest is not
    known here. `sequence` is that of its last notification, `windows` are those that it looks
    at, by IRI.
    """

    spuid: str
    alias: str | None
    text: str
    sequence: int
    tier: str = ""
    lutt: int = 0
    cts_quads: int = 0
    members: int = 0
    hits: int = 0
    costs: Costs = field(default_factory=Costs)
    in_worker: bool = False
    windows: tuple[tuple[str, Window], ...] = ()
    output: str = OUTPUTS[0]
    mode: str = "union"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _entry_text(entry: LuttEntry) -> str:
    parts = (entry.subject, entry.predicate, entry.object, entry.graph)
    return " ".join("*" if part is None else str(part) for part in parts)
