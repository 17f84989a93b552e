"""`sosa-gateway check`: everything that would stop or surprise a gateway, told before it runs.

Asks, in the order of a start and by the code of it, for what a gateway would find: settings, folder
of data, ports, certificates, the broker elsewhere, profiles, and what stands in its store. All is
told at once; starts nothing, changes nothing.
"""

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pyoxigraph import RdfFormat, parse

import ontologies
from gateway.admin.profile_checks import Finding
from gateway.cli.checking.axioms import ontology_findings
from gateway.cli.checking.folder import Where, folder_findings, identity_findings
from gateway.cli.checking.links import (
    broker_findings,
    federation_findings,
    modbus_findings,
    shipping_findings,
    tls_findings,
)
from gateway.cli.checking.mappings import profile_findings, store_findings
from gateway.cli.checking.ports import port_findings
from gateway.cli.checking.windows import window_findings
from gateway.cli.options import Commands, add_command, add_config, say
from gateway.cli.verbs import VERBS
from gateway.config.file import Given
from gateway.config.settings import Config

ONTOLOGIES = Path(ontologies.__path__[0])


def add(commands: Commands) -> None:
    """The command `check`."""
    add_config(add_command(commands, "check", _check, VERBS["check"].purpose))


def _check(options: argparse.Namespace) -> int:
    return report(check(Given.read(options.config, os.environ), os.environ))


def report(findings: Sequence[Finding]) -> int:
    """Write the findings and how many they are; the exit code."""
    for finding in findings:
        say(str(finding))
    errors = sum(finding.is_error for finding in findings)
    say(f"{errors} errors, {len(findings) - errors} warnings" if findings else "all is well")
    return 1 if errors else 0


def check(given: Given, environ: Mapping[str, str]) -> list[Finding]:
    """Every finding, each once, in the order in which a gateway would meet them."""
    config, faults = given.what_is_right()
    wrong = {fault.section for fault in faults}
    findings = [Finding(fault.place, fault.reason) for fault in faults]
    for sections, look in _LOOKS:
        # What rests on settings that are wrong would be told of others.
        if not wrong & sections:
            findings += look(config, given.place)
    findings += _ontologies(ONTOLOGIES)
    if not wrong & {"jsap", "remote", "limits"}:
        of_profiles, together = profile_findings(config)
        findings += of_profiles
        findings += ontology_findings(config, given.place) if "reasoning" not in wrong else ()
        if not wrong & {"gateway", "store", "http", "tls"}:
            findings += store_findings(config, together, given.place, environ)
        if together is not None and not wrong & {"gateway", "journal"}:
            findings += window_findings(config, together)
    return list(dict.fromkeys(findings))


_LOOKS: Sequence[tuple[set[str], Callable[[Config, Where], Iterable[Finding]]]] = (
    ({"gateway", "store", "http", "tls", "journal"}, folder_findings),
    ({"gateway", "tls"}, tls_findings),
    ({"gateway", "security"}, identity_findings),
    ({"shipping"}, shipping_findings),
    ({"gateway", "store", "mqtt", "http", "websocket", "tls"}, port_findings),
    ({"gateway", "mqtt"}, broker_findings),
    ({"modbus"}, modbus_findings),
    ({"gateway", "federation"}, federation_findings),
)
"""What is looked at, each with the sections of settings that it rests on."""


def _ontologies(folder: Path) -> Iterator[Finding]:
    for path in sorted(folder.glob("*.ttl")):
        try:
            for _ in parse(path=str(path), format=RdfFormat.TURTLE):
                pass
        except SyntaxError as error:
            yield Finding(f"{path}:{error.lineno}", f"not Turtle: {error.msg}")
