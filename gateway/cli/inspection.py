"""`sosa-gateway mapping why | messages | rehearse`: what becomes of messages, from both ends.

Place on the way of the data: a client of /messages and two gates below /mappings, in the group of
commands that `mappings` has; docs/mappings.md.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import urlencode

from gateway.cli.asking import service
from gateway.cli.options import Commands, add_action
from gateway.errors import BadRequestError

Members: TypeAlias = Mapping[str, Any]


def add_inspection(commands: Commands) -> None:
    """Adds to the commands of `mapping`."""
    asked = add_action(commands, "why", _why, "where an observation, or a triple, came from")
    asked.add_argument(
        "terms",
        nargs="+",
        metavar="TERM",
        help="an IRI, or subject predicate object [graph] as in N-Triples",
    )
    played = add_action(
        commands, "rehearse", _rehearse, "what changed mappings make of the last messages"
    )
    played.add_argument(
        "changes",
        metavar="JSON|@FILE",
        help='{"add": [...], "replace": [...], "remove": [ids]}, or a JSAP profile',
    )
    played.add_argument("--topic", metavar="FILTER", help="of these messages alone")
    played.add_argument(
        "--query", action="append", default=[], metavar="TEXT|@FILE", help="rows of this one too"
    )
    listed = add_action(commands, "messages", _messages, "the last messages as they came")
    listed.add_argument("--topic", metavar="FILTER", help="MQTT topic filter")
    listed.add_argument("--before", metavar="N", help="older ones alone")
    listed.add_argument("--limit", type=int, metavar="N", help="most of them; default: 20")


def _ask(options: argparse.Namespace, path: str, asked: Mapping[str, object]) -> Any:
    given = {name: value for name, value in asked.items() if value is not None}
    access = service.Access(options.ca, options.credentials)
    return service.call(f"{options.url}{path}?{urlencode(given)}", "GET", None, access)


def _why(options: argparse.Namespace) -> int:
    """0 when an observation wrote it."""
    answer = _ask(options, "/mappings/why", _question(options.terms))
    lines = [*_proof_lines(answer.get("proof", []))]
    lines += [line for each in answer["observations"] for line in _origin_lines(each)]
    if not (answer["stored"] or answer.get("proof")):
        lines.append("it is not in the store now")
    _tell(options, answer, [*([answer["reason"]] if answer["reason"] else []), *lines])
    return 0 if answer["observations"] or answer.get("proof") else 1


def _proof_lines(steps: Sequence[Members]) -> Iterator[str]:
    """The tree, each step once."""
    told: set[int] = set()
    waiting = [(0, 0)] if steps else []
    while waiting:
        number, depth = waiting.pop()
        step, indent = steps[number], "  " * depth
        if number in told:
            yield f"{indent}{step['text']}, as above"
            continue
        told.add(number)
        source = f"  ({step['source']})" if step["source"] else ""
        yield f"{indent}{step['text']}{source}"
        if step["axiom"]:
            yield f"{indent}  because {step['axiom']}, and:"
        waiting += [(each, depth + 1) for each in reversed(step["premises"])]


def _question(terms: list[str]) -> dict[str, object]:
    if len(terms) == 1:
        return {"iri": terms[0]}
    if len(terms) not in {3, 4}:
        raise BadRequestError("this is no triple", "give an IRI, or subject predicate object")
    return dict(zip(("subject", "predicate", "object", "graph"), terms, strict=False))


def _origin_lines(origin: Members) -> Iterable[str]:
    yield origin["iri"]
    message, line, template = origin["message"], origin["journal"], origin["template"]
    if message is not None:
        yield f"  message   {message['topic']} at {message['received_at']}"
        yield f"  kept in   {message['kept_in']}"
        yield f"  payload   {_payload(message)}"
    else:
        yield "  message   not kept any more, or not for you"
    for mapping in origin["mappings"]:
        word = "mapping  " if origin["certain"] else "perhaps  "
        yield f"  {word} {mapping['id']} ({mapping['source']})"
        yield f"  path      {mapping['topic']} {mapping['format']} {mapping['selector']}"
    if template is not None:
        yield f"  template  {template['id']} ({template['file']})"
    if line is not None:
        unit = f" {line['unit']}" if line["unit"] else ""
        yield f"  journal   {line['position']} in {line['segment']}: {line['result']}{unit}"
    else:
        yield "  journal   its line is not here any more; the archive may have it"


def _rehearse(options: argparse.Namespace) -> int:
    access = service.Access(options.ca, options.credentials)
    body = _changes(options.changes)
    body["queries"] = [*body.get("queries", []), *map(service.read_text, options.query)]
    if options.topic is not None:
        body["topic"] = options.topic
    report = service.call(f"{options.url}/mappings/rehearse", "POST", body, access)
    return _tell(options, report, _report_lines(report))


def _changes(argument: str) -> dict[str, Any]:
    """The body of a request; what has none of its members is a profile."""
    try:
        members = json.loads(service.read_text(argument, "JSON"))
    except ValueError as error:
        raise BadRequestError(f"this is no JSON: {error}", "docs/mappings.md shows it") from error
    if not isinstance(members, dict):
        raise BadRequestError("this is no JSON object", "docs/mappings.md shows it")
    is_edits = not members or {"add", "replace", "remove", "profile"} & set(members)
    return members if is_edits else {"profile": members}


def _report_lines(report: Members) -> Iterable[str]:
    counts = report["counts"]
    yield f"{report['messages']} of {report['kept']} messages rehearsed"
    for name, count in sorted(counts.items()):
        yield f"{count} {name.replace('_', ' ')}"
    if not counts:
        yield "no difference in observations, faults and triples"
    for each in report["observations"]:
        yield f"{each['topic']} at {each['received_at']}"
        yield from _difference_lines(each["old"] or {}, each["new"] or {}, each["fields"])
    for each in report["faults"]:
        yield f"{each['topic']}: {each['kind']} {each['reason']}: {each['detail']}"
    if report["subscriptions_skipped"]:
        yield f"rows were not rehearsed: {report['subscriptions_skipped']}"
    for each in report["subscriptions"]:
        yield from _row_lines(each)


def _difference_lines(old: Members, new: Members, fields: Iterable[str]) -> Iterable[str]:
    for name in fields:
        if old and new:
            yield f"  {name}: {old[name]} -> {new[name]}"
        elif (old or new)[name] is not None:
            yield f"  {'-' if old else '+'} {name}: {(old or new)[name]}"


def _row_lines(query: Members) -> Iterable[str]:
    if "error" in query:
        yield f"query refused: {query['error']}"
        return
    signs = (("-", query["removed"]), ("+", query["added"]))
    if any(rows for _, rows in signs):
        yield f"rows of {' '.join(query['query'].split())}"
    for sign, rows in signs:
        for row in rows:
            yield f"{sign} " + "  ".join(f"?{name}={term}" for name, term in row.items())


def _messages(options: argparse.Namespace) -> int:
    asked = {name: getattr(options, name) for name in ("topic", "before", "limit")}
    answer = _ask(options, "/messages", asked)
    lines = [_message_line(each) for each in answer["messages"]]
    if answer["next"] is not None:
        lines.append(f"more: --before {answer['next']}")
    return _tell(options, answer, lines or ["nothing is kept"])


def _message_line(message: Members) -> str:
    count = message["observations"]
    told = f"{count} observations" if count != 1 else "1 observation"
    head = f"{message['number']}  {message['received_at']}  {message['topic']}  ({told})"
    return f"{head}  {_payload(message)}"


def _payload(message: Members) -> str:
    return str(message.get("payload", f"base64 {message.get('payload_base64', '')}"))


def _tell(options: argparse.Namespace, answer: object, lines: Iterable[str]) -> int:
    if options.json:
        lines = [json.dumps(answer, ensure_ascii=False, indent=2)]
    else:
        lines = map(service.printable, lines)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0
