"""Who may log in to a Mosquitto beside the gateway, and which topics are theirs, as its files say.

Place: made of the identities, or of `[mqtt.users]`; what a line of these files cannot say is left
out and told, so that nobody gets more than its policy. Sources: mosquitto_passwd(1); "acl_file"
and "password_file" of mosquitto.conf(5).
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from gateway.security.identity import Identity, Snapshot
from gateway.security.mosquitto_hash import is_mosquitto_hash
from gateway.security.policy import EVERYTHING, NOTHING, Policy, TopicFilters

OURS = "sosa-gateway"
"""Who the gateway is at the broker; nobody else's name there."""

_HEAD = "# Written by sosa-gateway; what is changed here is lost.\n"


@dataclass(frozen=True, slots=True)
class Login:
    """A user of the broker: Mosquitto's hash of its secret, and its topics."""

    hash: str = field(repr=False)
    policy: Policy = EVERYTHING


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Whom, or what of whom, the broker is not told, and what to do."""

    name: str
    reason: str
    what_to_do: str


@dataclass(frozen=True, slots=True)
class Logins:
    """All of them by name, and who is not among them."""

    by_name: Mapping[str, Login]
    left_out: tuple[LeftOut, ...] = ()


def logins_of_users(users: Mapping[str, str]) -> Logins:
    """Users of `[mqtt.users]`, by hashes; each has all topics."""
    found, left_out = dict[str, Login](), []
    for name, stored in sorted(users.items()):
        if reason := _no_name(name):
            left_out.append(LeftOut(name, reason, "give it another name in [mqtt.users]"))
        elif is_mosquitto_hash(stored):
            found[name] = Login(stored)
        else:
            what = "Mosquitto cannot verify its password, which was hashed before"
            left_out.append(LeftOut(name, what, f"sosa-gateway mqtt-user {shlex.quote(name)}"))
    return Logins(found, tuple(left_out))


def logins_of_identities(snapshot: Snapshot) -> Logins:
    """Identities with credentials, by name and by client id, as the embedded broker takes them."""
    found, left_out = dict[str, Login](), list[LeftOut]()
    known = [each for each in snapshot.identities.values() if each.client_id]
    for identity in known:
        if not identity.mosquitto_hash:
            if _has_topics(identity.policy):
                what = "Mosquitto cannot verify its secret, which was made before"
                todo = f"sosa-gateway client renew {shlex.quote(identity.name)}"
                left_out.append(LeftOut(identity.name, what, todo))
            continue
        left_out += _unsaid(identity)
        login = Login(identity.mosquitto_hash, identity.policy)
        if not _no_name(identity.name):
            found.setdefault(identity.name, login)
        if not _no_name(identity.client_id):
            found[identity.client_id] = login
    return Logins(found, tuple(left_out))


def _has_topics(policy: Policy) -> bool:
    return policy.publish != NOTHING or policy.receive != NOTHING


def _unsaid(identity: Identity) -> Iterator[LeftOut]:
    if reason := _no_name(identity.name):
        yield LeftOut(identity.name, reason, "let it log in by its client id, or add it anew")
    policy = identity.policy
    for topic_filter in sorted((policy.publish or NOTHING) | (policy.receive or NOTHING)):
        if _unwritable(topic_filter):
            what = f"Mosquitto's file cannot say the topic filter {topic_filter!r}"
            yield LeftOut(identity.name, what, "give it topics without blanks at their ends")


def _no_name(name: str) -> str:
    """Why a password file cannot have it; "" where it can."""
    if name == OURS:
        return "this is the gateway's own name at the broker"
    if ":" in name or name.startswith("#") or _unwritable(name):
        return "Mosquitto's files cannot say a name with : or with # or blanks at its ends"
    return ""


def _unwritable(text: str) -> bool:
    """Whether a line that ends with the text would say something else."""
    return text != text.strip() or not text.isprintable()


def password_file(logins: Mapping[str, Login], own_hash: str) -> str:
    """A line for each, the gateway's first."""
    lines = [f"{OURS}:{own_hash}\n"]
    lines += [f"{name}:{login.hash}\n" for name, login in sorted(logins.items())]
    return "".join(lines)


def acl_file(logins: Mapping[str, Login], sparql_topic: str) -> str:
    """Everybody's topics; those of subscribers over MQTT are their user's alone."""
    blocks = [_block(OURS, EVERYTHING)]
    blocks += [_block(name, login.policy) for name, login in sorted(logins.items())]
    return f"{_HEAD}\n{''.join(blocks)}pattern readwrite {sparql_topic}/%u/#\n"


def _block(name: str, policy: Policy) -> str:
    lines = [f"user {name}"]
    lines += [f"topic read {each}" for each in _said(policy.receive, ("#", "$SYS/#"))]
    lines += [f"topic write {each}" for each in _said(policy.publish, ("#",))]
    return "\n".join([*lines, "", ""])


def _said(filters: TopicFilters, everything: Iterable[str]) -> list[str]:
    if filters is None:
        return list(everything)
    return sorted(each for each in filters if not _unwritable(each))
