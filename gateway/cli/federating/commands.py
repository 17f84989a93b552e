"""`sosa-gateway federation`: gateways that answer together.

`create`, `join`, `adopt` and `remove` write to the gateway's data_dir. One that runs takes
up what has changed within a second, and passes it on.
"""

import argparse
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from gateway.app.federation.members import listening, membership_folder, own_entry
from gateway.cli.federating import status
from gateway.cli.federating.findings import findings
from gateway.cli.options import Commands, Parser, add_config, add_group, say
from gateway.cli.verbs import VERBS
from gateway.config.file import load_config
from gateway.config.settings import Config
from gateway.errors import ConfigurationError
from gateway.federation.membership.acts import Acts
from gateway.federation.membership.folder import Membership
from gateway.federation.membership.invitations import read_code
from gateway.federation.membership.joining import join
from gateway.federation.membership.places import JOIN_PORT, Place
from gateway.federation.membership.roster import Roster
from gateway.security.certificates import expires_at
from gateway.security.private_files import keep_private


def add(commands: Commands) -> None:
    """The command `federation`."""
    group = add_group(commands, "federation", VERBS["federation"].purpose)
    create = _parser(group, "create", _create, "make a federation, and a code for one more gateway")
    create.add_argument("name", metavar="NAME", help="of the federation; again: another code")
    create.add_argument("--codes", type=_count, default=1, metavar="N", help="so many codes")
    create.add_argument(
        "--for", dest="member", default="", metavar="ID", help="a gateway that may come again"
    )
    joining = _parser(group, "join", _join, "let this gateway be a member")
    joining.add_argument(
        "code", metavar="CODE", help="of `federation create`, good once, for a day"
    )
    joining.add_argument("host", metavar="HOST", help="of the gateway with the CA, or HOST:PORT")
    removing = _parser(group, "remove", _remove, "let a gateway be a member no longer")
    removing.add_argument("name", metavar="ID")
    adopting = _parser(group, "adopt", _adopt, "have the CA at this gateway, from a saved copy")
    adopting.add_argument("file", type=Path, metavar="FILE")
    _parser(group, "members", _members, "who is in it, as this gateway knows")
    status.add(group)
    _parser(group, "check", _check, "what keeps this gateway from others; exit code 1 if anything")


def _parser(
    commands: Commands, name: str, action: Callable[[argparse.Namespace], int], purpose: str
) -> Parser:
    parser = commands.add_parser(name, help=purpose, description=purpose)
    parser.set_defaults(command=action)
    add_config(parser)
    parser.add_argument("--json", action="store_true", help="one object, as JSON")
    return parser


def _count(text: str) -> int:
    if not (text.isdecimal() and 0 < int(text[:4]) <= 100):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 100")
    return int(text)


def _config(options: argparse.Namespace) -> Config:
    """The settings of a gateway that is to be a member. Raises ConfigurationError."""
    config = load_config(options.config, os.environ)
    if not config.federation.via:
        raise ConfigurationError(
            "gateway.toml does not say by whom others reach this gateway",
            'write [federation] and via = "HOST" into it, the same two lines at each of them',
        )
    return config


def _acts(config: Config) -> Acts:
    keep_private(config.gateway.data_dir)
    return Acts(membership_folder(config), config.gateway.id, datetime.now(UTC))


def _create(options: argparse.Namespace) -> int:
    config = _config(options)
    acts, folder = _acts(config), membership_folder(config)
    acts.create(options.name, own_entry(config))
    codes = [str(acts.invite(options.member)) for _ in range(options.codes)]
    via, port = Place.parse(config.federation.via, 0), config.federation.join_port
    host = via.host if port == JOIN_PORT else f"{via.host}:{port}"
    if options.json:
        say(json.dumps({"codes": codes, "host": host, "authority": str(folder.saved_authority)}))
        return 0
    say("on each other gateway, one code each, within a day:")
    for code in codes:
        say(f"  sosa-gateway federation join {code} {host}")
    say(f"save a copy of the CA where it is safe: {folder.saved_authority}")
    say("  whoever has it lets gateways in; without it, once this gateway is gone, nobody can.")
    say("  `sosa-gateway federation adopt FILE` has it at another gateway")
    return 0


def _join(options: argparse.Namespace) -> int:
    config = _config(options)
    keep_private(config.gateway.data_dir)
    host = Place.parse(options.host, JOIN_PORT)
    roster = join(
        membership_folder(config),
        config.gateway.id,
        read_code(options.code),
        host,
        listen=listening(config),
        now=datetime.now(UTC),
    )
    return _told(options, roster, f"{config.gateway.id} is in {roster.federation}")


def _remove(options: argparse.Namespace) -> int:
    config = _config(options)
    roster = _acts(config).remove(options.name)
    return _told(options, roster, f"{options.name} is no longer in {roster.federation}")


def _adopt(options: argparse.Namespace) -> int:
    config = _config(options)
    roster = _acts(config).adopt(options.file)
    return _told(options, roster, f"{config.gateway.id} has the CA of {roster.federation}")


def _told(options: argparse.Namespace, roster: Roster, sentence: str) -> int:
    if options.json:
        say(json.dumps(_object(roster)))
    else:
        say(f"{sentence}; members: {', '.join(sorted(roster.members))}")
    return 0


def _members(options: argparse.Namespace) -> int:
    config = load_config(options.config, os.environ)
    membership = membership_folder(config).read(config.gateway.id)
    roster = membership.signed.roster
    if options.json:
        ends = expires_at(membership.certificate)
        say(json.dumps({**_object(roster), "this": config.gateway.id, "until": f"{ends:%Y-%m-%d}"}))
        return 0
    for line in _lines(config.gateway.id, membership):
        say(line)
    return 0


def _lines(own: str, membership: Membership) -> list[str]:
    roster = membership.signed.roster
    lines = [f"{roster.federation}, version {roster.generation}.{roster.version}"]
    for name, entry in sorted(roster.members.items()):
        marks = [
            "this one" if name == own else "",
            "CA" if name == roster.authority else "",
            "hub" if entry.is_hub else "",
        ]
        told = ", ".join(filter(None, marks))
        lines.append(f"  {name}  {' '.join(entry.at)}{f'  ({told})' if told else ''}")
    return [*lines, f"the certificate here is good until {expires_at(membership.certificate):%Y}"]


def _object(roster: Roster) -> dict[str, object]:
    return {
        "federation": roster.federation,
        "version": [roster.generation, roster.version],
        "authority": roster.authority,
        "members": [
            {"id": name, "at": list(entry.at), "hub": entry.is_hub}
            for name, entry in sorted(roster.members.items())
        ],
        "removed": list(roster.removed),
    }


def _check(options: argparse.Namespace) -> int:
    found = list(findings(load_config(options.config, os.environ)))
    if options.json:
        members = [
            {"where": each.where, "what": each.what, "what_to_do": each.what_to_do}
            for each in found
        ]
        say(json.dumps({"findings": members}))
    for each in () if options.json else found:
        say(f"{each.where}: {each.what}; {each.what_to_do}")
    if not found and not options.json:
        say("all is well")
    return 1 if found else 0
