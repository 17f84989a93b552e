"""`sosa-gateway quarantine`: messages with a fault, listed, replayed, discarded.

Place on the way of the data: a client of the HTTP gate below /quarantine; docs/quarantine.md.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode

from gateway.cli.asking import service
from gateway.cli.options import Commands, add_action, add_group
from gateway.cli.verbs import VERBS
from gateway.errors import BadRequestError

Members: TypeAlias = Mapping[str, Any]

_FILTERS = ("reason", "mapping", "topic", "before")


def add(commands: Commands) -> None:
    """The command `quarantine`."""
    inner = add_group(commands, "quarantine", VERBS["quarantine"].purpose)
    listing = add_action(inner, "list", _list, "the newest first")
    _add_filters(listing)
    listing.add_argument("--limit", type=int, metavar="N", help="most of them; default: 100")
    shown = add_action(inner, "show", _show, "one, with its payload")
    shown.add_argument("id", metavar="ID")
    for name, action, what in (
        ("replay", _replay, "send through the mappings of now, as they came"),
        ("discard", _discard, "forget"),
    ):
        chosen = add_action(inner, name, action, what)
        chosen.add_argument("ids", nargs="*", metavar="ID")
        chosen.add_argument("--all", action="store_true", help="all, or all that fit the filters")
        _add_filters(chosen)


def _add_filters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reason", help="null, malformed, out_of_range …")
    parser.add_argument("--mapping", metavar="IRI", help="that the fault hit")
    parser.add_argument("--topic", metavar="FILTER", help="MQTT topic filter")
    parser.add_argument("--before", metavar="ID", help="older ones alone")


def _ask(options: argparse.Namespace, method: str, path: str, **asked: object) -> Any:
    given = {name: value for name, value in asked.items() if value is not None}
    place = f"{options.url}/quarantine{path}" + (f"?{urlencode(given)}" if given else "")
    access = service.Access(options.ca, options.credentials)
    return service.call(place, method, None, access)


def _filters(options: argparse.Namespace) -> dict[str, object]:
    return {name: getattr(options, name) for name in _FILTERS}


def _list(options: argparse.Namespace) -> int:
    answer = _ask(options, "GET", "", **_filters(options), limit=options.limit)
    lines = [line for entry in answer["entries"] for line in _entry_lines(entry)]
    if answer["next"] is not None:
        lines.append(f"more: --before {answer['next']}")
    if lines:
        lines.append(_TO_DO)
    return _tell(options, answer, lines or ["nothing is in quarantine"])


_TO_DO = "what to do: correct the device or its mapping; then quarantine replay ID, or discard ID"


def _show(options: argparse.Namespace) -> int:
    entry = _ask(options, "GET", f"/{quote(options.id, safe='')}")
    payload = entry.get("payload", f"base64 {entry.get('payload_base64', '')}")
    return _tell(options, entry, [*_entry_lines(entry), f"  {payload}"])


def _replay(options: argparse.Namespace) -> int:
    """0 when all that were replayed have left the quarantine."""
    if options.all:
        outcomes = _ask(options, "POST", "/replay", **_filters(options))["replayed"]
    else:
        outcomes = [_ask(options, "POST", f"/{id_}/replay") for id_ in _ids(options)]
    lines = [line for each in outcomes for line in _outcome_lines(each)]
    _tell(options, {"replayed": outcomes}, lines or ["nothing to replay"])
    return 0 if all(each["done"] for each in outcomes) else 1


def _discard(options: argparse.Namespace) -> int:
    if options.all:
        count = _ask(options, "DELETE", "", **_filters(options))["discarded"]
    else:
        ids = _ids(options)
        for id_ in ids:
            _ask(options, "DELETE", f"/{id_}")
        count = len(ids)
    return _tell(options, {"discarded": count}, [f"{count} discarded"])


def _ids(options: argparse.Namespace) -> list[str]:
    if not options.ids or any(getattr(options, name) for name in _FILTERS):
        raise BadRequestError("which messages?", "give their ids, or --all and perhaps filters")
    return [quote(id_, safe="") for id_ in options.ids]


def _entry_lines(entry: Members) -> Iterable[str]:
    cut = "" if entry["is_whole"] else ", its beginning is kept"
    size = f"{entry['payload_bytes']} bytes{cut}"
    yield f"{entry['id']}  {entry['received_at']}  {entry['topic']}  ({size})"
    yield from _fault_lines(entry)


def _outcome_lines(outcome: Members) -> Iterable[str]:
    what = "done" if outcome["done"] else "still in quarantine"
    yield f"{outcome['id']}  {what}, {outcome['observations']} observations"
    yield from _fault_lines(outcome)


def _fault_lines(told: Members) -> Iterable[str]:
    for fault in told["faults"]:
        mapping = f"  <{fault['mapping']}>" if fault["mapping"] else ""
        yield f"  {fault['reason']}: {fault['detail']}{mapping}"


def _tell(options: argparse.Namespace, answer: object, lines: Iterable[str]) -> int:
    if options.json:
        lines = [json.dumps(answer, ensure_ascii=False, indent=2)]
    else:
        lines = map(service.printable, lines)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0
