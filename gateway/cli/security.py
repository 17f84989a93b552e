"""`sosa-gateway client`, `claim`, `keys`, `ca`, `mqtt-user`: who may get in, as the owner says it.

The commands write to the gateway's data_dir; one that runs takes the changes up within a second.
"""

import argparse
import getpass
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gateway.app.brokers.settings import beside_of
from gateway.app.security import identities_path, own_certificate, token_lifetimes_s
from gateway.cli.options import Commands, add_group, say
from gateway.cli.verbs import VERBS
from gateway.config.file import Given, load_config
from gateway.config.settings import Config
from gateway.errors import ConfigurationError, StorageError
from gateway.runtime.durable_files import as_owner
from gateway.security.authority import Credentials, new_credentials
from gateway.security.claim import TRIES, VALID_S, offer
from gateway.security.clients import checked_name, state_of
from gateway.security.identity import Identity, Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.mosquitto_hash import mosquitto_hash
from gateway.security.passwords import Hashes, hash_password, hashes_of
from gateway.security.policy import Capability, Policy
from gateway.security.policy_text import policy_of, words_of
from gateway.security.private_files import keep_private
from gateway.security.tokens import new_key

_PARTS = ("query", "subscribe", "update", "publish", "receive", "may")


def add(commands: Commands) -> None:
    """The commands `client`, `claim`, `keys`, `ca` and `mqtt-user`."""
    _add_client(add_group(commands, "client", VERBS["client"].purpose))
    _parser(commands, "claim", _claim, VERBS["claim"].purpose)
    _add_keys(add_group(commands, "keys", VERBS["keys"].purpose))
    _parser(commands, "ca", _ca, VERBS["ca"].purpose)
    user = _parser(commands, "mqtt-user", _mqtt_user, VERBS["mqtt-user"].purpose)
    user.add_argument("name", metavar="NAME")


def _add_client(commands: Commands) -> None:
    add = _parser(commands, "add", _add, "let a client in, with these rights and no others")
    add.add_argument("name", metavar="NAME", help="its identity: a serial number, an e-mail ...")
    add.add_argument(
        "--kind", type=Kind, choices=list(Kind), default=Kind.APPLICATION, help="sets token life"
    )
    _add_policy(add)
    credentials = add.add_mutually_exclusive_group()
    credentials.add_argument("--secret", action="store_true", help="make and print credentials")
    credentials.add_argument(
        "--credentials", type=Path, metavar="FILE", help="make them and write them to a new file"
    )
    add.add_argument(
        "--register-within",
        type=float,
        default=24.0,
        metavar="HOURS",
        help="without credentials it registers itself, once, within this time; default: 24",
    )
    change = _parser(commands, "change", _change, "give a client these rights in place of its own")
    change.add_argument("name", metavar="NAME")
    _add_policy(change)
    renew = _parser(commands, "renew", _renew, "give a client another secret, which is printed")
    renew.add_argument("name", metavar="NAME")
    renew.add_argument(
        "--credentials", type=Path, metavar="FILE", help="write them to a new file instead"
    )
    revoke = _parser(commands, "revoke", _revoke, "forget a client and end what it has open")
    revoke.add_argument("name", metavar="NAME")
    revoke.add_argument(
        "--tokens", action="store_true", help="its tokens only; it may ask for new ones"
    )
    listing = _parser(commands, "list", _list, "the clients and what they may do")
    listing.add_argument("--json", action="store_true", help="one client a line, as JSON")


def _add_policy(parser: argparse.ArgumentParser) -> None:
    graphs = "IRI of a graph, 'default' or 'all'"
    for part, meaning in (
        ("query", f"graphs to QUERY, and to read in the WHERE of an UPDATE: {graphs}"),
        ("subscribe", f"graphs to SUBSCRIBE to: {graphs}"),
        ("update", f"graphs to UPDATE: {graphs}"),
    ):
        _add_words(parser, part, meaning, metavar="GRAPH")
    for part in ("publish", "receive"):
        meaning = f"MQTT topics to {part}: topic filters, or 'all'"
        _add_words(parser, part, meaning, metavar="FILTER")
    _add_words(
        parser,
        "may",
        "mappings: write what devices mean; operations: see metrics and counters; "
        "federate: ask other gateways; "
        "system: write the gateway's own graphs",
        choices=[capability.value for capability in Capability],
    )


def _add_words(
    parser: argparse.ArgumentParser,
    part: str,
    meaning: str,
    *,
    metavar: str | None = None,
    choices: Sequence[str] | None = None,
) -> None:
    """An option that takes several words, and adds to them where it is given again."""
    parser.add_argument(
        f"--{part}",
        nargs="+",
        action="extend",
        default=[],
        metavar=metavar,
        choices=choices,
        help=meaning,
    )


def _add_keys(commands: Commands) -> None:
    rotate = _parser(commands, "rotate", _rotate, "sign with a new key from now on")
    rotate.add_argument(
        "--forget", action="store_true", help="forget the old keys: every token ends at once"
    )
    _parser(commands, "list", _list_keys, "the keys; the first one signs")


def _parser(
    commands: Commands, name: str, command: object, purpose: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=purpose, description=purpose)
    parser.set_defaults(command=command)
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="default: ./gateway.toml if there is one"
    )
    return parser


def _store(options: argparse.Namespace) -> IdentityStore:
    return _store_of(load_config(options.config, os.environ))


def _store_of(config: Config) -> IdentityStore:
    """Where root asks, made and closed to others as the gateway's user would, whose links lead root
    nowhere."""
    data = config.gateway.data_dir
    if not data.is_dir():
        keep_private(data)
    with as_owner(data):
        keep_private(data)
        return IdentityStore(identities_path(config))


@contextmanager
def _told_mosquitto(config: Config) -> Iterator[IdentityStore]:
    """The store; what is changed in it, a Mosquitto beside the gateway is told as well."""
    yield _store_of(config)
    beside = beside_of(config)
    if beside is not None:
        beside.write()


def _policy(options: argparse.Namespace) -> Policy:
    return policy_of({part: getattr(options, part) for part in _PARTS})


def _add(options: argparse.Namespace) -> int:
    name = checked_name(options.name)
    config = load_config(options.config, os.environ)
    now = time.time()
    wanted = options.secret or options.credentials
    credentials = new_credentials() if wanted else Credentials("", "")
    hashes = _hashes(config, credentials) if wanted else Hashes()
    identity = Identity(
        name,
        options.kind,
        _policy(options),
        credentials.client_id,
        hashes.secret,
        register_until=0.0 if wanted else now + options.register_within * 3600,
        tokens_from=now,
        mosquitto_hash=hashes.mosquitto,
    )
    with _given(options.credentials, credentials), _told_mosquitto(config) as store:
        store.add(identity)
    if options.secret:
        _say_credentials(credentials)
    elif not options.credentials:
        _say(f"{name} may register within {options.register_within:g} hours")
    return 0


def _hashes(config: Config, credentials: Credentials) -> Hashes:
    return hashes_of(credentials.client_secret, for_mosquitto=config.mqtt.mode == "mosquitto")


def _say_credentials(credentials: Credentials) -> None:
    _say(f"client_id: {credentials.client_id}", f"client_secret: {credentials.client_secret}")


def _renew(options: argparse.Namespace) -> int:
    config = load_config(options.config, os.environ)
    secret = new_credentials().client_secret
    with _told_mosquitto(config) as store:
        client_id = store.client_id(options.name)
        credentials = Credentials(client_id, secret)
        with _given(options.credentials, credentials):
            store.renew(options.name, _hashes(config, credentials), time.time())
    if not options.credentials:
        _say_credentials(credentials)
    return 0


@contextmanager
def _given(path: Path | None, credentials: Credentials) -> Iterator[None]:
    """Credentials in a file, if one is named; it goes again where they do not come into force."""
    if path is None:
        yield
        return
    _write(path, credentials)
    try:
        yield
    except BaseException:
        path.unlink()
        raise


def _write(path: Path, credentials: Credentials) -> None:
    members = {
        "client_id": credentials.client_id,
        "client_secret": credentials.client_secret,
    }
    try:
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        with os.fdopen(file, "w", encoding="utf-8") as out:
            out.write(json.dumps(members) + "\n")
    except OSError as error:
        raise StorageError(
            f"cannot write {path}: {error.strerror}", "name a file that does not exist yet"
        ) from error


def _change(options: argparse.Namespace) -> int:
    with _told_mosquitto(load_config(options.config, os.environ)) as store:
        store.change_policy(options.name, _policy(options))
    return 0


def _revoke(options: argparse.Namespace) -> int:
    with _told_mosquitto(load_config(options.config, os.environ)) as store:
        if options.tokens:
            store.revoke_tokens(options.name, time.time())
        else:
            store.revoke(options.name)
    return 0


def _list(options: argparse.Namespace) -> int:
    now = time.time()
    for identity in _store(options).snapshot().identities.values():
        rights = words_of(identity.policy)
        if options.json:
            members = {
                "name": identity.name,
                "kind": identity.kind,
                "state": state_of(identity, now),
            }
            _say(json.dumps({**members, **rights}, ensure_ascii=False))
        else:
            listed = "  ".join(f"--{part} {' '.join(words)}" for part, words in rights.items())
            _say(f"{identity.name}  {identity.kind}  {state_of(identity, now)}  {listed}".rstrip())
    return 0


def _claim(options: argparse.Namespace) -> int:
    """For a gateway that asks who its clients are; it may be running."""
    config = load_config(options.config, os.environ)
    if not config.security.enabled:
        raise ConfigurationError(
            "this gateway asks nobody who they are", "say [security] enabled = true first"
        )
    code = offer(_store(options))
    _say(
        code,
        f"good for {VALID_S / 3600:g} h in which the gateway runs, once, for {TRIES} tries: who "
        "gives it to the gateway is its first client, with all rights",
    )
    return 0


def _rotate(options: argparse.Namespace) -> int:
    now = time.time()
    longest_s = max(token_lifetimes_s(load_config(options.config, os.environ)).values())
    key = new_key(now)
    _store(options).rotate(key, forget_before=now if options.forget else now - longest_s)
    _say(f"signing with {key.kid}")
    return 0


def _list_keys(options: argparse.Namespace) -> int:
    for key in _store(options).snapshot().keys:
        made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(key.created_at))
        _say(f"{key.kid}  {made}  {'signs' if key.retired_at is None else 'retired'}")
    return 0


def _ca(options: argparse.Namespace) -> int:
    """Made here where it is missing, so that clients can have it before the first start."""
    config = load_config(options.config, os.environ)
    if config.tls.mode != "own":
        raise ConfigurationError(
            "this gateway has no CA of its own", 'say [tls] mode = "own", or ask who gave the files'
        )
    keep_private(config.gateway.data_dir)
    _say(str(own_certificate(config).ca_path))
    return 0


def _say(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _mqtt_user(options: argparse.Namespace) -> int:
    """The password is asked for on a terminal and is the first line of input elsewhere."""
    interactive = sys.stdin.isatty()
    password = getpass.getpass() if interactive else sys.stdin.readline().rstrip("\n")
    if not password:
        raise ConfigurationError("the password is empty", "type one, or pipe one in")
    if interactive and getpass.getpass("again: ") != password:
        raise ConfigurationError("the two passwords differ", "try again")
    # Settings that lack a user may be refused whole: only the mode counts.
    mqtt = Given.read(options.config, os.environ).settings.get("mqtt")
    is_mosquitto = isinstance(mqtt, dict) and mqtt.get("mode") == "mosquitto"
    stored = mosquitto_hash(password) if is_mosquitto else hash_password(password)
    say(f"{json.dumps(options.name)} = {json.dumps(stored)}")
    return 0
