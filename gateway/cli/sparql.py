"""`sosa-gateway query`, `update`, `subscribe`, `explain`: SPARQL from the command line."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console

from gateway.cli.asking import service
from gateway.cli.asking.known_gateway import subscribe_url
from gateway.cli.options import Commands, add_access, add_command, say
from gateway.cli.verbs import VERBS
from gateway.errors import WindowError


def add(commands: Commands) -> None:
    """The four commands."""
    parser = add_command(commands, "query", _query, VERBS["query"].purpose)
    _add_sparql(parser)
    _add_gateways(parser)
    what = "allow: answer without the gateways that are missing"
    _add_history(parser)
    parser.add_argument("--missing", metavar="WORD", help=what)
    parser.add_argument(
        "--format",
        choices=["table", *service.RESULT_TYPES],
        help="default: table on a terminal, else json",
    )
    _add_sparql(add_command(commands, "update", _update, VERBS["update"].purpose))
    parser = add_command(commands, "subscribe", _subscribe, VERBS["subscribe"].purpose)
    _add_sparql(parser)
    _add_windows(parser)
    parser.add_argument("--json", action="store_true", help="one notification a line, as JSON")
    parser = add_command(commands, "explain", _explain, VERBS["explain"].purpose)
    _add_sparql(parser)
    _add_windows(parser)
    parser.add_argument("--json", action="store_true", help="as JSON")


def _add_sparql(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT|@FILE", help="SPARQL; @- reads standard input")
    parser.add_argument(
        "--infer",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="whether what follows by axioms counts; default: as [reasoning] infer says",
    )
    add_access(parser)


def _add_windows(parser: argparse.ArgumentParser) -> None:
    what = '{"<IRI>": {"stream": "<IRI>", "range": "PT10M"}}: named graphs beside the store\'s'
    parser.add_argument("--windows", metavar="JSON|@FILE", help=what)
    told = "what is told of the answer: changes (as without it), added, removed or whole"
    parser.add_argument("--output", metavar="WORD", help=told)
    _add_gateways(parser)
    absent = "keep (as without it), or drop: what a gateway had that is away for long"
    parser.add_argument("--absent", metavar="WORD", help=absent)


def _add_history(parser: argparse.ArgumentParser) -> None:
    """The options of a query over time."""
    what = "observations of all times: from this archive, then from the journal"
    parser.add_argument("--archive", type=Path, metavar="FOLDER", help=what)
    journal = "of --archive; default: that of the gateway.toml here"
    parser.add_argument("--journal", type=Path, metavar="FOLDER", help=journal)


def _add_gateways(parser: argparse.ArgumentParser) -> None:
    mode = (
        "union (as without it); event: the query is asked of each compound event alone; "
        "each: of each gateway alone"
    )
    parser.add_argument("--mode", metavar="WORD", help=mode)
    gateways = "all, or ids with commas: the query is asked of all of them together"
    parser.add_argument("--gateways", metavar="all|ID,...", help=gateways)
    after = (
        "all events after this position of a gateway; of several gateways in other modes: "
        "the answer is no older; may be repeated"
    )
    parser.add_argument("--after", metavar="GATEWAY=POSITION", action="append", help=after)


def _over(options: argparse.Namespace) -> Mapping[str, Any]:
    """The members `windows`, `output`, `absent` and those of `_of_gateways` of a request.

    Raises WindowError for what cannot be read.
    """
    over: dict[str, Any] = dict(_of_gateways(options))
    if options.windows is not None:
        try:
            over["windows"] = json.loads(service.read_text(options.windows, "JSON"))
        except ValueError as error:
            reason, hint = f"is no JSON: {error}", "docs/windows.md shows it"
            raise WindowError("--windows", reason, hint) from error
    for name in ("output", "absent"):
        if getattr(options, name) is not None:
            over[name] = getattr(options, name)
    return over


def _of_gateways(options: argparse.Namespace) -> Mapping[str, Any]:
    """The members `gateways`, `mode` and `after` of a request."""
    over: dict[str, Any] = {}
    if options.mode is not None:
        over["mode"] = options.mode
    if options.gateways is not None:
        names = options.gateways
        over["gateways"] = names if names == "all" else names.split(",")
    if options.after:
        over["after"] = dict(map(_position, options.after))
    return over


def _position(text: str) -> tuple[str, str]:
    gateway, is_said, position = text.partition("=")
    if not is_said:
        raise WindowError("--after", f"{text!r:.60} is no GATEWAY=POSITION", "as events have them")
    return gateway, position


def _query(options: argparse.Namespace) -> int:
    text, access = service.read_text(options.text), _access(options)
    wanted = options.format or ("table" if sys.stdout.isatty() else "json")
    over = dict(_of_gateways(options))
    if options.missing is not None:
        over["missing"] = options.missing
    accept = service.RESULT_TYPES.get(wanted, f"{service.RESULT_TYPES['json']}, text/turtle;q=0.9")
    if options.archive is not None:
        history: Any = import_module("gateway.cli.asking.history")  # it takes a moment to load
        code: int = history.query_over_time(options, text, wanted, access)
        return code
    answer = service.query(options.url, text, accept, access, options.infer, over=over)
    if wanted == "table":
        service.print_table(Console(), answer)
    else:
        say(answer.rstrip("\n"))
    return 0


def _update(options: argparse.Namespace) -> int:
    text = service.read_text(options.text)
    answer = service.update(options.url, text, _access(options), options.infer)
    said, warnings = _told(answer)
    say(said if sys.stdout.isatty() else answer.rstrip("\n"))
    for warning in warnings:
        sys.stderr.write(f"warning: {warning}\n")
    return 0


def _told(answer: str) -> tuple[str, Sequence[str]]:
    """What an UPDATE did, and what it made wrong, for people; another answer as it is."""
    try:
        told = json.loads(answer)
        counts = told["response"]["body"]
        warnings = [
            f"{each['where']}: {each['what']}; {each['what_to_do']}"
            for each in told.get("warnings", ())
        ]
        return f"{counts['added']} added, {counts['removed']} removed", warnings
    except (ValueError, TypeError, KeyError):
        return answer.rstrip("\n"), ()


def _explain(options: argparse.Namespace) -> int:
    text = service.read_text(options.text)
    accept = "application/json" if options.json else "text/plain"
    over = _over(options)
    told = service.explain(options.url, text, accept, _access(options), options.infer, over=over)
    say(told.rstrip("\n"))
    return 0


def _subscribe(options: argparse.Namespace) -> int:
    text = service.read_text(options.text)
    url, access, over = subscribe_url(options.url), _access(options), _over(options)
    said: Sequence[str] = ()
    for notification in service.notifications(url, text, access, options.infer, over=over):
        if options.json:
            say(json.dumps(notification, ensure_ascii=False))
        else:
            lines = tuple(service.federation_lines(notification))
            if lines and lines != said:
                sys.stderr.write("".join(f"{line}\n" for line in lines))
            said = lines
            colour = sys.stdout.isatty()
            service.show_notification(sys.stdout, notification, colour=colour)
    return 0


def _access(options: argparse.Namespace) -> service.Access:
    return service.Access(options.ca, options.credentials)
