"""Profiles, and mappings, actuators and rules as they stand in the store, which is not disturbed.

Place: the store of a gateway that does not run is read without opening it for writing; one that
runs is asked for its alarms, which know its store.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gateway.admin.profile_checks import (
    GRAPH_QUERIES,
    Finding,
    in_force,
    profile_problems,
    profile_warnings,
    stored_findings,
    template_findings,
    together_findings,
)
from gateway.app.storage import identity_of, remote_of, store_path
from gateway.cli.asking import service
from gateway.cli.asking.known_gateway import fill
from gateway.cli.checking.folder import Where, holder_of, is_own
from gateway.config.settings import SHIPPED_PROFILES, Config
from gateway.errors import GatewayError
from gateway.profiles import Profiles, read_profile
from gateway.rdf.namespaces import MAPPINGS_GRAPH, STATE_GRAPH
from gateway.runtime.alarms import AlarmKind
from gateway.runtime.forms import Forms
from gateway.sparql.bounds.form import set_bounds
from gateway.store.disk.migration import known_form
from gateway.store.disk.stored import stored_quads
from jsap.errors import JsapError
from jsap.profile import Profile

OBSERVATIONS = SHIPPED_PROFILES / "observations.jsap"


def profile_findings(config: Config) -> tuple[list[Finding], Profiles | None]:
    """What is wrong with the profiles, and all together where they can be used at all."""
    set_bounds(config.limits.of_form())
    findings: list[Finding] = []
    profiles: dict[Path, Profile] = {}
    remote = remote_of(config)
    paths = [*config.jsap.profiles, *filter(Path.exists, [config.saved_profile])]
    for path in paths:
        try:
            profiles[path] = read_profile(path, remote)
        except (JsapError, OSError) as error:
            findings += profile_problems(error, str(path))
    for profile in profiles.values():
        findings += [*profile_warnings(profile), *template_findings(profile)]
    parts = [part for path, each in profiles.items() if (part := _put(findings, [each], [path]))]
    if len(parts) < len(paths):
        return findings, None
    together = _put(findings, list(profiles.values()), list(profiles))
    if together is not None:
        findings += together_findings(together, identity_of(config))
    has_all = together is not None and together.queries.keys() >= GRAPH_QUERIES
    return findings, together if has_all else None


def extended_findings(path: Path, profile: Profile) -> list[Finding]:
    """What a gateway would find in one profile behind the one that ships."""
    findings: list[Finding] = []
    profiles = [read_profile(OBSERVATIONS, remote_of(Config())), profile]
    together = _put(findings, profiles, [OBSERVATIONS, path])
    if together is not None:
        findings += together_findings(together, identity_of(Config()))
    return findings


def _put(
    findings: list[Finding], profiles: Sequence[Profile], paths: Sequence[Path]
) -> Profiles | None:
    """The profiles together; what keeps them from it is added to the findings."""
    try:
        return Profiles.of(profiles, list(map(str, paths)))
    except JsapError as error:
        findings += profile_problems(error, ", ".join(map(str, paths)))
        return None


def store_findings(
    config: Config, together: Profiles | None, where: Where, environ: Mapping[str, str]
) -> Iterable[Finding]:
    """What is wrong with what stands in the store; without good profiles, as far as it tells."""
    holder, path = holder_of(config), store_path(config)
    if holder is not None:
        own = is_own(config, holder)
        return _running(config, where, environ) if own else ()
    return () if path is None else _stored(config, path, together, where)


def _stored(
    config: Config, path: Path, together: Profiles | None, where: Where
) -> Iterator[Finding]:
    try:
        known_form(path, Forms.read().store)
        quads = stored_quads(path, (MAPPINGS_GRAPH, STATE_GRAPH))
    except GatewayError as error:
        yield Finding.of(where("gateway", "data_dir"), error)
        return
    if together is None:
        known = Profiles.load([OBSERVATIONS])
        graph = [quad for quad in quads if quad.graph_name == MAPPINGS_GRAPH]
        yield from stored_findings(known, graph, str(path))
        return
    graph = in_force(together, identity_of(config), quads)
    yield from stored_findings(together, graph, str(path))


_ERRORS = frozenset(
    {
        AlarmKind.BROKEN_MAPPING.value,
        AlarmKind.BROKEN_RULE.value,
        AlarmKind.BROKEN_ACTUATOR.value,
        AlarmKind.BROKEN_VIRTUAL_SENSOR.value,
        AlarmKind.UNKNOWN_UNIT.value,
    }
)
"""Alarms that are errors though the gateway does its work."""


def _running(config: Config, where: Where, environ: Mapping[str, str]) -> Iterator[Finding]:
    try:
        alarms = _alarms(config, environ)
    except GatewayError as error:
        reason = f"the gateway that runs was not asked for its alarms: {error.description}"
        place = where("gateway", "data_dir")
        yield Finding(place, reason, is_error=False, what_to_do=error.hint)
        return
    for alarm in alarms:
        is_error = alarm["fault"] or alarm["kind"] in _ERRORS
        place = f"the gateway that runs: {alarm['where']}"
        yield Finding(place, alarm["what"], is_error, alarm["what_to_do"])


def _alarms(config: Config, environ: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
    """What the gateway of these settings tells, with the credentials that commands give it."""
    ca = config.gateway.data_dir / "tls" / "ca.crt"
    options = argparse.Namespace(
        url=_url(config), ca=ca if config.tls.mode == "own" else None, credentials=None
    )
    fill(options, environ)
    access = service.Access(options.ca, options.credentials)
    alarms: Sequence[Mapping[str, Any]] = service.call(
        f"{options.url}/alarms", "GET", None, access
    )["alarms"]
    return alarms


def _url(config: Config) -> str:
    host = config.http.host.strip("[]")
    host = "127.0.0.1" if host in {"0.0.0.0", "::", ""} else host  # noqa: S104 - looked for
    scheme = "http" if config.tls.mode == "off" else "https"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{config.http_port}"
