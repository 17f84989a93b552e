"""`sosa-gateway check`: everything that would stop or surprise a gateway, told before it runs.

Reads the configuration's profiles, their SPARQL, the mappings and rules in them, and the ontologies
that ship; starts nothing, changes nothing.
"""

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pyoxigraph import RdfFormat, parse

import ontologies
from gateway.admin.profile_checks import (
    Finding,
    profile_problem,
    profile_warnings,
    template_findings,
    together_findings,
)
from gateway.cli.options import Commands, add_command, add_config, say
from gateway.cli.verbs import VERBS
from gateway.config.file import load_config
from gateway.config.settings import Config
from gateway.errors import ConfigurationError
from gateway.ingest.sosa import Identity
from gateway.profiles import Profiles, read_profile
from gateway.shipping import open_zone
from gateway.shipping.zones import read_token
from gateway.store.fetch import HttpFetch
from gateway.store.remote import Remote
from jsap.errors import JsapError
from jsap.profile import Profile

ONTOLOGIES = Path(ontologies.__path__[0])


def add(commands: Commands) -> None:
    """The command `check`."""
    add_config(add_command(commands, "check", _check, VERBS["check"].purpose))


def _check(options: argparse.Namespace) -> int:
    return report(check(load_config(options.config, os.environ)))


def report(findings: Sequence[Finding]) -> int:
    """Write the findings and how many they are; the exit code."""
    for finding in findings:
        say(str(finding))
    errors = sum(finding.is_error for finding in findings)
    say(f"{errors} errors, {len(findings) - errors} warnings" if findings else "all is well")
    return 1 if errors else 0


def check(config: Config) -> list[Finding]:
    """Every finding, in the order in which the gateway would meet them."""
    findings = [*_password(config), *_shipping(config), *_ontologies(ONTOLOGIES)]
    profiles: dict[Path, Profile] = {}
    fetch = HttpFetch(config.remote.load_bytes, config.remote.load_s)
    remote = Remote(frozenset(config.remote.hosts), fetch)
    for path in config.jsap.profiles:
        try:
            profiles[path] = read_profile(path, remote)
        except (JsapError, OSError) as error:
            findings.append(profile_problem(error, str(path)))
    for profile in profiles.values():
        findings += [*profile_warnings(profile), *template_findings(profile)]
    if len(profiles) == len(config.jsap.profiles):
        findings += _together(profiles, config)
    return findings


def _together(profiles: Mapping[Path, Profile], config: Config) -> Iterator[Finding]:
    place = ", ".join(map(str, profiles))
    try:
        together = Profiles.of(list(profiles.values()), list(map(str, profiles)))
    except JsapError as error:
        yield profile_problem(error, place)
        return
    identity = Identity(config.gateway.base_iri, config.gateway.id)
    yield from together_findings(together, identity)


def _password(config: Config) -> Iterator[Finding]:
    try:
        config.mqtt.read_password()
    except ConfigurationError as error:
        yield Finding("mqtt", str(error))


def _shipping(config: Config) -> Iterator[Finding]:
    settings = config.shipping
    try:
        if settings.to:
            open_zone(settings.to, settings.options, settings.token_file, settings.ca_file)
            read_token(settings.token_file)
    except ConfigurationError as error:
        yield Finding("shipping", str(error))


def _ontologies(folder: Path) -> Iterator[Finding]:
    for path in sorted(folder.glob("*.ttl")):
        try:
            for _ in parse(path=str(path), format=RdfFormat.TURTLE):
                pass
        except SyntaxError as error:
            yield Finding(f"{path}:{error.lineno}", f"not Turtle: {error.msg}")
