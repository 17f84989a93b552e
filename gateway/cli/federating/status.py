"""`sosa-gateway federation status`: how the other gateways are, as a running one sees them.

Place on the way of the data: a client of the HTTP gate /federation; docs/federation.md.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gateway.cli.asking import service
from gateway.cli.options import Commands, add_access, add_command, say


def add(commands: Commands) -> None:
    """The command, in the group of `federation`."""
    purpose = "how each other gateway is; exit code 1 while one is away"
    parser = add_command(commands, "status", _status, purpose)
    parser.add_argument("--json", action="store_true", help="the gateway's answer as it is")
    add_access(parser)


def _status(options: argparse.Namespace) -> int:
    access = service.Access(options.ca, options.credentials)
    answer = service.call(f"{options.url}/federation", "GET", None, access)
    members = answer["members"]
    if options.json:
        say(json.dumps(answer, ensure_ascii=False, indent=2))
    else:
        say(service.printable(f"{answer['gateway']} at {answer['position']}"))
        say("\n".join(map(service.printable, _lines(members))) or "nobody else is in it")
    return 0 if all(each["state"] == "up" for each in members) else 1


def _lines(members: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for each in members:
        reason = f": {each['reason']}" if each["reason"] else ""
        yield f"{each['name']} {each['state']} since {each['since']}{reason}"
        lag = "nothing is known" if each["lag_s"] is None else f"lag {each['lag_s']:.1f} s"
        yield f"  {lag}, position {each['position'] or 'none'}"
        yield (
            f"  entries {each['entries']}, replica quads {each['replica_quads']}, "
            f"outbox quads {each['outbox_quads']}, {each['bytes_per_s']:g} bytes/s"
        )
        yield f"  resyncs {each['resyncs']}, gaps {each['gaps']}, late {each['late']}"
