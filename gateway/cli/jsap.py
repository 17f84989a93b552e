"""`sosa-gateway jsap schema | check FILE | reload`: profiles, without a gateway but for `reload`.

Place on the way of the data: before it. `check` reads a profile with what it includes beside it,
its SPARQL and its endpoints; no host is asked.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gateway.admin.profile_checks import (
    Finding,
    profile_problem,
    profile_warnings,
    template_findings,
)
from gateway.cli import service
from jsap.errors import JsapError
from jsap.profile import Profile, load_profile
from jsap.schema import json_schema


def schema() -> str:
    """The JSON Schema of a profile, as text."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False)


def told(changes: Mapping[str, Any]) -> str:
    """What a running gateway has taken up."""
    if not changes["changed"]:
        return "nothing has changed"
    lines = [
        f"{member}: {', '.join(map(service.printable, changes[member]))}"
        for member in ("mappings", "queries", "updates")
        if changes[member]
    ]
    return "\n".join(lines)


def check(path: Path, *, strict: bool = False) -> list[Finding]:
    """What is wrong with a profile; with `strict` every warning is an error."""
    try:
        profile = load_profile(path)
    except (JsapError, OSError) as error:
        return [profile_problem(error, str(path))]
    findings = [
        *profile_warnings(profile),
        *template_findings(profile),
        *_endpoints(path, profile),
    ]
    return [Finding(each.place, each.reason, each.is_error or strict) for each in findings]


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
