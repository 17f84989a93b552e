"""`RehearsalRunner`: has changed mappings rehearsed beside the running gateway, one at a time.

What a rehearsal needs is collected here: the last messages and the mappings of now in the threads
that have them, a copy of what of the store the asker may read, the standing queries. The work is
done by a process of its own, which is ended in time.
"""

import asyncio
import json
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from pyoxigraph import NamedNode, Quad, RdfFormat, serialize

from adapters.values.message import Message
from gateway.actuation.rules import Rule
from gateway.admin.onboarding.changes import require_good
from gateway.admin.onboarding.nodes import Compiled, InNodes, Nodes, stored_nodes
from gateway.admin.rehearsal.rehearsal import Asked, Script
from gateway.engine import Engine, Limits, Reasoning
from gateway.errors import (
    GatewayError,
    QueryTimeoutError,
    TooLargeError,
    TooManyRequestsError,
)
from gateway.ingest.raw_messages import RawMessage
from gateway.ingest.sosa import Identity
from gateway.profiles import Profiles
from gateway.rdf.namespaces import ONTOLOGY_GRAPH
from gateway.scheduler.scheduler import Scheduler
from jsap.forced_bindings import ForcedBinding
from jsap.template import Template

TIME_S = 20.0
"""What a rehearsal may take; then it tells how far it came."""

_END_S = TIME_S + 10.0

_PROGRAM = (
    "import sys; sys.path[:] = {path!r}; import gateway.admin.rehearsal.process as m; m.main()"
)

Wanted = Callable[[Nodes], Mapping[NamedNode, frozenset[Quad]]]
"""What changed nodes are to say; raises a ClientError."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What is rehearsed on: messages, the store's quads (None: too many), queries, rules."""

    messages: Sequence[RawMessage]
    quads: bytes | None
    queries: Sequence[Asked]
    rules: Sequence[Rule] = ()


@dataclass(frozen=True, slots=True)
class RehearsalConditions:
    """How the gateway makes observations; see `Script`."""

    identity: Identity
    future: timedelta
    latest: int
    limits: Limits


class RehearsalRunner:
    """One for each gateway; for the event loop. `profiles` gives those in force."""

    def __init__(
        self,
        scheduler: Scheduler,
        profiles: Callable[[], Profiles],
        conditions: RehearsalConditions,
    ) -> None:
        self._scheduler = scheduler
        self._profiles = profiles
        self._conditions = conditions
        self._busy = False

    async def rehearse(self, wanted: Wanted, ground: Ground) -> dict[str, Any]:
        """What would differ, as JSON has it.

        Raises what `wanted` raises, InvalidMappingError for mappings that do not compile,
        TooManyRequestsError beside another rehearsal, QueryTimeoutError where it does not end.
        """
        if self._busy:
            raise TooManyRequestsError("another rehearsal is under way", 5.0)
        self._busy = True
        try:
            nodes = await self._scheduler.look(stored_nodes)
            reasoning, axioms = await self._scheduler.look(_reasoning)
            script = await asyncio.to_thread(self._script, nodes, wanted, ground)
            return await _played(replace(script, reasoning=reasoning, axioms=axioms))
        finally:
            self._busy = False

    async def standing(self) -> list[Asked]:
        """The queries that others than the gateway itself have subscribed to, without windows.

        What windows would have had is not known of a rehearsed message: its time is over.
        """

        def look(engine: Engine) -> list[Asked]:
            return [
                Asked(each.text, each.dataset, each.infer)
                for each in engine.standing
                if not (each.is_prompt or each.windows)
            ]

        return list(dict.fromkeys(await self._scheduler.look(look)))

    def _script(self, nodes: Nodes, wanted: Wanted, ground: Ground) -> Script:
        changed = wanted(nodes)
        require_good(InNodes(nodes), changed)
        after = {node: quads for node, quads in {**nodes, **changed}.items() if quads}
        observation = self._conditions.identity.observation
        gave = [
            observation(replace(raw.first, sequence=raw.first.sequence + offset))
            for raw in ground.messages
            if raw.first is not None
            for offset in range(raw.observations)
        ]
        messages: tuple[Message, ...] = tuple(raw.message for raw in ground.messages)
        return Script(
            messages,
            Compiled.of(nodes).mappings,
            Compiled.of(after).mappings,
            _portable(self._profiles()),
            self._conditions.identity,
            self._conditions.future,
            self._conditions.latest,
            tuple(ground.queries),
            ground.quads,
            tuple(gave),
            TIME_S,
            self._conditions.limits,
            tuple(ground.rules),
        )


def _reasoning(engine: Engine) -> tuple[Reasoning | None, bytes]:
    """What the gateway reasons on, and by which axioms; conclusions may tell of them anyway."""
    if engine.view is None:
        return None, b""
    axioms = engine.store.match(None, None, None, ONTOLOGY_GRAPH)
    return engine.view.reasoning, serialize(axioms, format=RdfFormat.N_QUADS) or b""


def _portable(profiles: Profiles) -> Profiles:
    """What another process needs of them."""
    return replace(
        profiles,
        updates={name: _plain(each) for name, each in profiles.updates.items()},
        queries={name: _plain(each) for name, each in profiles.queries.items()},
        mappings=(),
        places={},
    )


def _plain(template: Template) -> Template:
    """The same, its prefixes in the text and nowhere else."""
    bindings = {
        name: ForcedBinding(each.binding_type, each.datatype, each.language, each.default)
        for name, each in template.forced_bindings.items()
    }
    return Template(
        template.id,
        template.text,
        bindings,
        template.graphs,
        {},
        template.due,
        template.infer,
        template.over,
    )


async def _played(script: Script) -> dict[str, Any]:
    given = await asyncio.to_thread(pickle.dumps, script)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _PROGRAM.format(path=sys.path),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_END_S):
            report, complaint = await process.communicate(given)
    except TimeoutError as error:
        raise QueryTimeoutError(_END_S) from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise _failure(process.returncode or 0, complaint.decode(errors="replace").strip())
    told: dict[str, Any] = json.loads(report)
    return told


def _failure(code: int, complaint: str) -> GatewayError:
    """Allocations that fail end the process by a signal, or as MemoryError."""
    last = complaint.rpartition("\n")[2]
    if code < 0 or last.startswith("MemoryError"):
        return TooLargeError(
            "the rehearsal takes more memory than it may have", "choose fewer messages or queries"
        )
    return GatewayError(f"the rehearsal failed: {last[:200]}", "report this defect")
