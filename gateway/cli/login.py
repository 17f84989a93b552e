"""`sosa-gateway login` and `logout`: which gateway the other commands ask, said once."""

import argparse
import os
from pathlib import Path

from gateway.cli.asking import service
from gateway.cli.asking.known_gateway import Login, base_url, login_file
from gateway.cli.options import Commands, add_command, say
from gateway.cli.verbs import VERBS


def add(commands: Commands) -> None:
    """Both commands."""
    parser = add_command(commands, "login", _login, VERBS["login"].purpose)
    parser.add_argument("url", metavar="URL", help="http://HOST:PORT or https://HOST:PORT")
    parser.add_argument("--credentials", metavar="FILE", help="of `sosa-gateway client add`")
    parser.add_argument("--ca", metavar="FILE", help="of `sosa-gateway ca`")
    add_command(commands, "logout", _logout, VERBS["logout"].purpose)


def _login(options: argparse.Namespace) -> int:
    """The gateway is asked once, so that what is remembered works."""
    url = base_url(options.url)
    ca, credentials = (_absolute(each) for each in (options.ca, options.credentials))
    service.call(f"{url}/ready", "GET", None, service.Access(ca, credentials))
    login = Login(url, str(ca or ""), str(credentials or ""))
    say(f"{url}: remembered in {login.write(os.environ)}")
    return 0


def _logout(options: argparse.Namespace) -> int:
    del options
    file = login_file(os.environ)
    is_there = file.exists()
    file.unlink(missing_ok=True)
    say(f"{file}: removed" if is_there else "nobody has logged in")
    return 0


def _absolute(file: str | None) -> Path | None:
    return Path(file).absolute() if file else None
