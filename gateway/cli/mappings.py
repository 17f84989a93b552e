"""`sosa-gateway mapping`: what a running gateway makes of messages, from the command line.

Place on the way of the data: a client of the HTTP gate below /mappings; docs/mappings.md shows it.
"""

import argparse
import json
import sys
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlencode

from gateway.cli.asking import service
from gateway.cli.inspection import add_inspection
from gateway.cli.near_topics import near_filter
from gateway.cli.options import Commands, add_action, add_group
from gateway.cli.verbs import VERBS
from gateway.errors import BadRequestError

Members: TypeAlias = Mapping[str, Any]


def add(commands: Commands) -> None:
    """The command `mapping`."""
    inner = add_group(commands, "mapping", VERBS["mapping"].purpose)
    add_action(inner, "list", _list, "all mappings, with what is wrong with one")
    add_action(inner, "unknown", _unknown, "topics that no mapping reads, and what they may be")
    _add_proposals(inner)
    _add_try(inner)
    changes = add_action(inner, "apply", _apply, "add, replace, remove mappings as one change")
    changes.add_argument(
        "edits", metavar="JSON|@FILE", help='{"add": [...], "replace": [...], "remove": [ids]}'
    )
    undo = add_action(inner, "undo", _undo, "take a change back")
    undo.add_argument("id", metavar="ID", help="of `mapping history`")
    undo.add_argument("--force", action="store_true", help="also what was changed since")
    add_action(inner, "history", _history, "changes, the last first")
    migrate = add_action(inner, "migrate", _migrate, "take up what devices mean now")
    migrate.add_argument("--dry-run", action="store_true", help="tell only what would be done")
    add_inspection(inner)


_OPEN = ("proposed", "moved", "changed")
_STATUSES = [*_OPEN, "confirmed", "rejected", "withdrawn"]


def _add_proposals(commands: Commands) -> None:
    proposals = add_action(commands, "proposals", _proposals, "mappings that devices propose")
    proposals.add_argument("--status", choices=_STATUSES)
    proposals.add_argument("--device", metavar="NAME", help="of this device alone")
    confirm = add_action(commands, "confirm", _confirm, "make proposals mappings")
    confirm.add_argument(
        "--all", action="store_true", help="all that have no question; those that have are listed"
    )
    for name, what in (
        ("feature", "of what it is observed: the room, not the device"),
        ("sensor", "who observes"),
        ("property", "what is observed"),
        ("unit", "QUDT IRI or symbol"),
    ):
        confirm.add_argument(f"--{name}", metavar="IRI", help=what)
    confirm.add_argument(
        "--set", action="append", default=[], metavar="MEMBER=VALUE", help="of the mapping's JSON"
    )
    reject = add_action(commands, "reject", _reject, "have proposals never accepted")
    for parser in (confirm, reject):
        parser.add_argument(
            "ids", nargs="*", metavar="ID", help="of `mapping proposals`, `unknown`"
        )
        parser.add_argument("--device", metavar="NAME", help="all that this device proposes now")


def _add_try(commands: Commands) -> None:
    parser = add_action(commands, "try", _try, "what a message would be; nothing is changed")
    parser.add_argument("topic", metavar="TOPIC")
    parser.add_argument("payload", metavar="PAYLOAD|@FILE", help="@- reads standard input")
    parser.add_argument("--mapping", metavar="JSON|@FILE", help="by this one, or a list of them")
    parser.add_argument("--retained", action="store_true", help="as the broker had kept it")
    parser.add_argument("--time", metavar="ISO", help="when it came; default: now")


def _ask(options: argparse.Namespace, method: str, path: str, body: object = None) -> Any:
    access = service.Access(options.ca, options.credentials)
    return service.call(f"{options.url}{path}", method, body, access)


def _list(options: argparse.Namespace) -> int:
    answer = _ask(options, "GET", "/mappings")
    return _tell(options, answer, _or([_mapping_lines(e) for e in answer["mappings"]], "mappings"))


def _or(blocks: Sequence[Sequence["Line"]], what: str) -> Sequence[Sequence["Line"]]:
    """The blocks, or a word where there is none."""
    return blocks or [[(f"there are no {what}", "")]]


Line: TypeAlias = tuple[str, object]
"""A word and what is said behind it."""


def _mapping_lines(mapping: Members) -> list[Line]:
    """What it reads and what it makes of that; the first line is its id."""
    return [
        (mapping["id"], ""),
        ("reads", " ".join(str(mapping.get(name, "")) for name in ("topic", "format", "selector"))),
        ("gives", mapping.get("property", "")),
        ("of", mapping.get("feature", "")),
        ("by", mapping.get("sensor", "")),
        *((name, mapping[name]) for name in _OTHERS if name in mapping),
    ]


_OTHERS = (
    *("condition", "scale", "offset", "decimalSign"),
    *("unit", "deviceUnit", "time", "sequence", "trueValue", "falseValue", "expiresAfter"),
    *("availability", "availabilities", "retained", "sensorClass", "actuator", "error"),
)


def _unknown(options: argparse.Namespace) -> int:
    answer = _ask(options, "GET", "/mappings/unknown")
    known = _ask(options, "GET", "/mappings")["mappings"] if answer["topics"] else []
    filters = [str(each["topic"]) for each in known if "topic" in each]
    lines = [_topic_lines(each, filters) for each in answer["topics"]]
    return _tell(options, answer, _or(lines, "topics that no mapping reads"))


def _topic_lines(topic: Members, filters: Sequence[str]) -> list[Line]:
    near = near_filter(topic["topic"], filters)
    payloads = [
        each.get("payload", each.get("payloadBase64")) for each in topic.get("payloads", ())
    ]
    return [
        (topic["topic"], ""),
        ("heard", f"{topic['count']} times, {topic['first']} to {topic['last']}"),
        *(("payload", each) for each in payloads),
        ("looks like", topic["family"] or "nothing that is known"),
        *([("nearly", f"{near}, which a mapping reads: is it a typo?")] if near else []),
        *((each.get("id", ""), _guess(each)) for each in topic["guesses"]),
        ("what to do", _TO_MAP if topic["guesses"] else _TO_ADD),
    ]


_TO_MAP = "correct the topic, or: sosa-gateway mapping confirm ID"
_TO_ADD = "correct the topic, or add a mapping of it (docs/mappings.md)"


def _guess(guess: Members) -> str:
    mapping = guess["mapping"]
    words = (mapping.get("selector", ""), mapping["property"], mapping.get("unit", ""))
    return " ".join(word for word in words if word)


def _proposals(options: argparse.Namespace) -> int:
    answer = {"proposals": _proposed(options, options.status, options.device)}
    lines = [_proposal_lines(each) for each in answer["proposals"]]
    return _tell(options, answer, _or(lines, "proposals"))


def _proposed(options: argparse.Namespace, status: str | None, device: str | None) -> Any:
    wanted = {"status": status, "device": device}
    query = urlencode({name: value for name, value in wanted.items() if value})
    return _ask(options, "GET", f"/mappings/proposals?{query}")["proposals"]


def _proposal_lines(proposal: Members) -> list[Line]:
    command = proposal.get("command")
    return [
        (f"{proposal['id']}  {proposal['label']}", ""),
        ("status", proposal["status"]),
        ("device", f"{proposal['device']} ({proposal['family']})"),
        *_mapping_lines(proposal["mapping"])[1:],
        *([("gave", proposal["before"].get("property", ""))] if "before" in proposal else []),
        ("kind", proposal["kind"] if proposal["known"] else f"{proposal['kind']}, by its own name"),
        *([("set by", f"{command['topic']} {command.get('payload', '')}")] if command else []),
        *((name, proposal[name]) for name in ("question", "error") if name in proposal),
    ]


def _confirm(options: argparse.Namespace) -> int:
    members = {name: getattr(options, name) for name in ("feature", "sensor", "property", "unit")}
    given = {name: value for name, value in members.items() if value is not None}
    for text in options.set:
        name, sign, value = text.partition("=")
        if not sign:
            raise BadRequestError(f"--set {text}", "write --set MEMBER=VALUE")
        given[name] = _value(value)
    if options.all and (given or options.ids or options.device):
        raise BadRequestError("--all takes all as they are", "name a device, or ids, to set more")
    body = {"all": True} if options.all else {"ids": _ids(options), "mapping": given}
    answer = _ask(options, "POST", "/mappings/proposals/confirm", body)
    _tell_change(options, answer)
    left = [
        [(f"left: {each['id']}  {each['label']}", ""), ("why", each["reason"])]
        for each in answer.get("left", ())
    ]
    return 0 if options.json else _tell(options, answer, left)


def _migrate(options: argparse.Namespace) -> int:
    answer = _ask(options, "POST", "/mappings/migrate", {"dryRun": options.dry_run})
    if options.json:
        return _tell(options, answer, [])
    _tell(options, answer, [_outdated_lines(each) for each in answer["outdated"]])
    named = [("names an old property; change it by hand:", "")]
    named += [(each["iri"], each["condition"]) for each in answer["mentions"]]
    _tell(options, answer, [named] if answer["mentions"] else [])
    if options.dry_run:
        count = len(answer["outdated"])
        return _tell(options, answer, [[(f"{count} mappings mean something else now", "")]])
    return _tell_change(options, answer)


def _outdated_lines(outdated: Members) -> list[Line]:
    return [
        (f"{outdated['proposal']}  {outdated['label']}", ""),
        ("gives", outdated["before"]),
        ("means", outdated["after"]),
        *([("inverted", "it says true of what is false")] if outdated["inverted"] else []),
        *([("question", outdated["question"])] if "question" in outdated else []),
    ]


def _value(text: str) -> object:
    """A number where it is one: `expiresAfter` is."""
    try:
        number = json.loads(text)
    except ValueError:
        return text
    return number if type(number) in {int, float} else text


def _reject(options: argparse.Namespace) -> int:
    ids = _ids(options)
    _ask(options, "POST", "/mappings/proposals/reject", {"ids": ids})
    return _tell(options, {"rejected": ids}, [[(f"{len(ids)} rejected", "")]])


def _ids(options: argparse.Namespace) -> list[str]:
    """What was typed, and what a device proposes. Raises BadRequestError for none."""
    of_device = _proposed(options, None, options.device) if options.device else []
    ids = [*options.ids, *(each["id"] for each in of_device if each["status"] in _OPEN)]
    if not ids:
        raise BadRequestError(
            "there is nothing to decide", "name ids of `sosa-gateway mapping proposals`"
        )
    return ids


def _try(options: argparse.Namespace) -> int:
    payload = _payload(options.payload)
    message = {
        "topic": options.topic,
        "retained": options.retained,
        "time": options.time,
        **payload,
    }
    body: dict[str, object] = {"message": message}
    if options.mapping is not None:
        given = _json(options.mapping)
        body["mappings"] = given if isinstance(given, list) else [given]
    answer = _ask(options, "POST", "/mappings/try", body)
    _tell(options, answer, [_observation_lines(each) for each in answer["observations"]])
    if not options.json:
        _tell(options, answer, [_trial_lines(answer)])
    return 1 if answer["faults"] or answer["violations"] or not answer["matched"] else 0


def _observation_lines(seen: Members) -> list[Line]:
    told = [(name, value) for name, value in seen.items() if value not in (None, False)]
    return [(f"observation: {seen['result']}", ""), *told[:3], *told[4:]]


def _trial_lines(answer: Members) -> list[Line]:
    matched = "" if answer["matched"] else "no mapping knows this topic: "
    violations = answer["violations"] or ()
    counts = f"observations: {len(answer['observations'])}, triples: {len(answer['triples'])}"
    return [
        (f"{matched}{counts}", ""),
        *(("fault", f"{each['reason']}: {each['detail']}") for each in answer["faults"]),
        *(("violation", f"{each['node']}: {each['message']}") for each in violations),
        *([("violations", answer["violationsNote"])] if "violationsNote" in answer else []),
        *(("notice", " ".join(str(part) for part in each.values())) for each in answer["notices"]),
    ]


def _payload(argument: str) -> dict[str, str]:
    """As text, or in base64 where a file is none."""
    if not argument.startswith("@"):
        return {"payload": argument}
    try:
        read = sys.stdin.buffer.read() if argument == "@-" else Path(argument[1:]).read_bytes()
    except OSError as error:
        raise BadRequestError(f"cannot read {argument[1:]}: {error}") from error
    try:
        return {"payload": read.decode()}
    except UnicodeDecodeError:
        return {"payloadBase64": b64encode(read).decode()}


def _apply(options: argparse.Namespace) -> int:
    return _tell_change(options, _ask(options, "POST", "/mappings/apply", _json(options.edits)))


def _json(argument: str) -> Any:
    try:
        return json.loads(service.read_text(argument, "JSON"))
    except ValueError as error:
        raise BadRequestError(f"this is no JSON: {error}", _NO_JSON) from error


_NO_JSON = "docs/mappings.md shows it; SPARQL is for: sosa-gateway update @FILE"


def _undo(options: argparse.Namespace) -> int:
    body = {"id": options.id, "force": options.force}
    return _tell_change(options, _ask(options, "POST", "/mappings/undo", body))


def _history(options: argparse.Namespace) -> int:
    answer = _ask(options, "GET", "/mappings/history")
    lines = [_change_lines(each) for each in answer["changes"]]
    return _tell(options, answer, _or(lines, "changes"))


def _tell_change(options: argparse.Namespace, answer: Members) -> int:
    if not answer["changed"]:
        return _tell(options, answer, [[("nothing changed: it is as it was asked for", "")]])
    return _tell(options, answer, [_change_lines(answer["change"])])


def _change_lines(change: Members) -> list[Line]:
    before = {each["id"]: each for each in change["before"]}
    after = {each["id"]: each for each in change["after"]}
    who = f" by {change['by']}" if change["by"] else ""
    return [
        (f"change {change['id']}: {change['kind']}{who}, {change['at']}", ""),
        *(("added", _read(after[each])) for each in sorted(after.keys() - before.keys())),
        *(("replaced", _read(after[each])) for each in sorted(after.keys() & before.keys())),
        *(("removed", _read(before[each])) for each in sorted(before.keys() - after.keys())),
    ]


def _read(mapping: Members) -> str:
    """What a mapping reads, and what it gives, for people; `--json` has its IRI."""
    reads = (mapping.get("topic", ""), mapping.get("selector", ""))
    name = unquote(str(mapping.get("property", "")).rpartition("/")[2])
    return " ".join(filter(None, (*map(str, reads), f"({name})" if name else "")))


def _tell(options: argparse.Namespace, answer: object, blocks: Sequence[Sequence[Line]]) -> int:
    """The answer as JSON if that was asked for, otherwise in blocks of lines."""
    if options.json:
        sys.stdout.write(f"{json.dumps(answer, ensure_ascii=False, indent=2)}\n")
        return 0
    for (title, _), *lines in blocks:
        sys.stdout.write(f"{service.printable(str(title))}\n")
        for word, value in lines:
            sys.stdout.write(f"    {word:<12} {service.printable(str(value).strip())}\n")
    return 0
