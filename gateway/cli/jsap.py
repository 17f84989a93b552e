"""`sosa-gateway jsap schema | check FILE | reload`: profiles, without a gateway but for `reload`.

`check` reads a profile with what it includes beside it, its SPARQL, its endpoints, and its
mappings, actuators and rules as a gateway would behind the profile that ships; no host is asked.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gateway.admin.profile_checks import (
    Finding,
    profile_problems,
    profile_warnings,
    template_findings,
)
from gateway.cli.asking import service
from gateway.cli.check import report
from gateway.cli.checking.mappings import extended_findings
from gateway.cli.options import Commands, add_access, add_command, add_group, say
from gateway.cli.verbs import VERBS
from jsap.errors import JsapError
from jsap.profile import Profile, load_profile
from jsap.schema import json_schema


def add(commands: Commands) -> None:
    """The command `jsap`."""
    inner = add_group(commands, "jsap", VERBS["jsap"].purpose)
    add_command(inner, "schema", _schema, "print the JSON Schema of a profile")
    checked = add_command(inner, "check", _check, "say what is wrong with a profile")
    checked.add_argument("file", type=Path, metavar="FILE")
    checked.add_argument("--strict", action="store_true", help="warnings are errors")
    purpose = "have a running gateway read its profiles again"
    add_access(add_command(inner, "reload", _reload, purpose))


def _schema(_: argparse.Namespace) -> int:
    say(schema())
    return 0


def _check(options: argparse.Namespace) -> int:
    return report(check(options.file, strict=options.strict))


def _reload(options: argparse.Namespace) -> int:
    access = service.Access(options.ca, options.credentials)
    answer = service.call(f"{options.url}/profiles/reload", "POST", None, access)
    say(told(answer))
    return 0


def schema() -> str:
    """The JSON Schema of a profile, as text."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False)


def told(changes: Mapping[str, Any]) -> str:
    """What a running gateway has taken up."""
    if not changes["changed"]:
        return "nothing has changed"
    lines = [
        f"{member}: {', '.join(map(service.printable, changes[member]))}"
        for member in ("mappings", "ontologies", "queries", "updates")
        if changes[member]
    ]
    return "\n".join(lines)


def check(path: Path, *, strict: bool = False) -> list[Finding]:
    """What is wrong with a profile; with `strict` every warning is an error."""
    try:
        profile = load_profile(path)
    except (JsapError, OSError) as error:
        return [*profile_problems(error, str(path))]
    findings = [
        *profile_warnings(profile),
        *template_findings(profile),
        *_endpoints(path, profile),
        *extended_findings(path, profile),
    ]
    return [replace(each, is_error=each.is_error or strict) for each in dict.fromkeys(findings)]


def _endpoints(path: Path, profile: Profile) -> Iterator[Finding]:
    """Entries that no client could send; a profile for the gateway alone needs no host."""
    if profile.host is None and profile.sparql11protocol.host is None:
        yield Finding(f"{path}: host", "missing; clients need to be told", is_error=False)
        return
    for key in profile.queries:
        try:
            profile.endpoints.subscribe(key)
        except JsapError as error:
            yield Finding(f"{path}: queries.{key}", f"{error.reason}; {error.what_to_do}")
