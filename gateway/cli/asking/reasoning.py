"""`sosa-gateway reasoning`: what follows at a running gateway, and whether ontologies are sound.

Place on the way of the data: `status` and `resume` are clients of /reasoning; `check` reads files
as a start would, without a gateway.
"""

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from gateway.admin.reasoning import domain_states
from gateway.cli.asking import service
from gateway.cli.options import Commands, add_action, add_command, add_config, add_group, say
from gateway.cli.verbs import VERBS
from gateway.config.file import load_config
from gateway.config.settings import Config
from gateway.reasoning.axioms import Axioms, read_axioms
from gateway.reasoning.ontologies import load_ontology, ontology_path


def add(commands: Commands) -> None:
    """The commands below `reasoning`."""
    below = add_group(commands, "reasoning", VERBS["reasoning"].purpose)
    add_action(below, "status", _status, "axioms, domains, contradictions, and what follows")
    add_action(below, "resume", _resume, "try again what was suspended")
    parser = add_command(below, "check", _check, "what is used of ontologies, and what is broken")
    what = "files, or names that ship; default: those of the settings"
    parser.add_argument("files", metavar="FILE", nargs="*", help=what)
    parser.add_argument("--json", action="store_true", help="as JSON")
    add_config(parser)


def _status(options: argparse.Namespace) -> int:
    return _show(options, "GET", "/reasoning")


def _resume(options: argparse.Namespace) -> int:
    return _show(options, "POST", "/reasoning/resume")


def _show(options: argparse.Namespace, method: str, path: str) -> int:
    """1 while something is suspended."""
    access = service.Access(options.ca, options.credentials)
    told = service.call(f"{options.url}{path}", method, None, access)
    if options.json:
        say(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        say("\n".join(_lines(told)))
    return 1 if any(each["suspended"] for each in told["domains"]) else 0


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    if not told["on"]:
        yield "reasoning is off: [reasoning] graphs names what is reasoned on (docs/reasoning.md)"
        return
    yield f"{told['derived']} quads follow, of at most {told['bound']}"
    for each in told["domains"]:
        state = f"SUSPENDED: {each['suspended']}" if each["suspended"] else "reasoned on"
        yield f"  {' and '.join(each['graphs'])}: {state}"
    yield from _counts("axioms in force", told["used"])
    yield from _counts("not used", told["unused"])
    yield from (f"  {each['derived']:>8} by: {each['axiom']}" for each in told["by_axiom"])
    if told["contradicted"]:
        yield f"{told['contradicted']} contradictions"
        yield from (f"  {each}" for each in told["contradictions"])


def _counts(what: str, counts: Mapping[str, int]) -> Iterator[str]:
    kinds = ", ".join(f"{kind} {count}" for kind, count in counts.items())
    yield f"{what}: {sum(counts.values())}" + (f" ({kinds})" if kinds else "")


def _check(options: argparse.Namespace) -> int:
    """Broken axioms are an error, told with file and line or node."""
    config = load_config(options.config, os.environ)
    paths = [ontology_path(each, "check") for each in options.files] or [
        *config.reasoning.ontologies
    ]
    found = {str(path): read_axioms(load_ontology(path)) for path in paths}
    if options.json:
        say(json.dumps({name: _told(axioms) for name, axioms in found.items()}, indent=2))
        return 0
    for name, axioms in found.items():
        say(f"{name}")
        for line in (*_counts("axioms", _kinds(axioms)), *_counts("not used", axioms.unused)):
            say(f"  {line}")
    if not found:
        say("no ontology is named: give files, or [reasoning] ontologies")
    say("\n".join(_domains(config)))
    return 0


def _told(axioms: Axioms) -> Mapping[str, object]:
    return {"used": _kinds(axioms), "unused": dict(sorted(axioms.unused.items()))}


def _kinds(axioms: Axioms) -> Mapping[str, int]:
    return dict(sorted(Counter(type(each).__name__ for each in axioms).items()))


def _domains(config: Config) -> Iterator[str]:
    """What the settings reason on; of a joint domain, who sees what."""
    if not config.reasoning.is_on:
        yield "reasoning is off: [reasoning] graphs names what is reasoned on"
    for each in domain_states(config.reasoning.domains(), {}):
        if each.into in each.graphs or each.graphs == ("*",):
            yield f"reasoned on: {' '.join(each.graphs).replace('*', 'every other graph')}"
        else:
            yield f"reasoned on jointly: {', '.join(each.graphs)}; conclusions go into {each.into}"
            yield f"  who may read {each.into} sees what follows from all of them"
