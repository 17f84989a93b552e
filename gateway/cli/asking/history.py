"""`sosa-gateway query --archive`: an archive here, a journal here, and the store of a gateway.

Place on the way of the data: the same process as behind `history=true` answers; what the store says
besides observations comes over HTTP, within the rights of who asks. Meaning: docs/archive.md.
"""

import argparse
import os
import pickle
import sys
import time
from contextlib import closing

from rich.console import Console

from gateway.cli.asking import service
from gateway.cli.options import say
from gateway.config.file import load_config
from gateway.errors import BadRequestError, UnreachableError
from gateway.gates.protocol.media_types import Acceptable
from gateway.gates.sparql.history_job import (
    MODULE,
    WORK,
    FactsAsked,
    HistoryAnswer,
    HistoryJob,
    HistoryQuery,
)
from gateway.journal.past.sources import GatherLimits, Sources, require_readers
from gateway.profiles import Profiles
from gateway.runtime.confined import ConfinedProcesses, Confinement
from gateway.sparql.bounds.answer import AnswerBounds
from jsap.profile import load_profile
from jsap.shapes.shape import shapes_of

_TIMEOUT_S = 60.0
_OF_DUCKDB = 4


def query_over_time(
    options: argparse.Namespace, text: str, wanted: str, access: service.Access
) -> int:
    """Ask, print the answer, and what is missing on standard error; exit code 0."""
    require_readers()
    if options.gateways is not None or options.infer:
        raise BadRequestError("--archive with --gateways or --infer", "ask for one of them")
    config = load_config(None, os.environ)
    profiles = Profiles.load(config.jsap.profiles)
    namespaces = load_profile(config.jsap.profiles[0]).namespaces
    query = HistoryQuery(text, shapes_of(profiles.updates), dict(namespaces))
    settings = config.archive
    journal = options.journal or config.gateway.data_dir / "journal"
    accept = service.RESULT_TYPES.get(wanted, service.RESULT_TYPES["json"])
    confinement = Confinement(MODULE, settings.memory_bytes, WORK, "[archive] memory_bytes")
    with closing(ConfinedProcesses(confinement)) as processes:
        asked = pickle.loads(processes.ask(FactsAsked(query), _TIMEOUT_S))  # noqa: S301  # our own child
        triples, missing = _facts(options, access, asked)
        job = HistoryJob(
            query,
            Sources(options.archive.absolute(), journal if journal.is_dir() else None),
            GatherLimits(settings.rows, memory_bytes=settings.memory_bytes // _OF_DUCKDB),
            AnswerBounds(solutions=config.limits.query_solutions, timeout_s=_TIMEOUT_S),
            Acceptable.of(accept),
            time.time_ns() // 1000,
            triples=triples,
            missing=missing,
        )
        answer = pickle.loads(processes.ask(job, _TIMEOUT_S))  # noqa: S301  # our own child wrote it
    _tell(answer, wanted)
    return 0


def _facts(
    options: argparse.Namespace, access: service.Access, asked: list[str]
) -> tuple[bytes, dict[str, str]]:
    """What the gateway's store says, as N-Triples; that it is missing where nobody answers."""
    accept = service.RESULT_TYPES["ntriples"]
    try:
        answers = [service.query(options.url, text, accept, access) for text in asked]
    except UnreachableError as error:
        return b"", {"store": error.description}
    return "".join(answers).encode(), {}


def _tell(found: HistoryAnswer, wanted: str) -> None:
    for part, why in found.missing.items():
        sys.stderr.write(f"missing: {part}: {why}\n")
    for gap in found.gaps:
        sys.stderr.write(f"gap: {gap}\n")
    body = found.answer.body.decode()
    if wanted == "table":
        service.print_table(Console(), body)
    else:
        say(body.rstrip("\n"))
