"""What a newcomer and the CA say to each other, as lines of JSON; and members over their links.

    newcomer: {"join": 1, "secret", "member", "csr", "at"} -> {"certificate", "roster"} | {"error"}
    members: MessagePack [kind, content]: "roster", "renew", "certificate"

Place: between who acts and what travels. Whatever comes is bounded and checked before it is used.
"""

import json
from collections.abc import Mapping

import msgpack

from gateway.errors import BadRequestError, ConflictError, GatewayError
from gateway.federation.membership.acts import LetIn, Newcomer
from gateway.federation.membership.roster import MOST_BYTES, read_roster, require_places
from gateway.federation.wire import WireError

MOST_ASKED = 16_384
MOST_ANSWERED = 2 * MOST_BYTES
_VERSION = 1


def asked(newcomer: Newcomer) -> bytes:
    """The line of a newcomer."""
    members = {
        "join": _VERSION,
        "secret": newcomer.secret,
        "member": newcomer.member,
        "csr": newcomer.csr.decode(),
        "at": list(newcomer.at),
    }
    return json.dumps(members).encode() + b"\n"


def read_asked(line: bytes) -> Newcomer:
    """The reverse of `asked`. Raises BadRequestError."""
    members = _members(line)
    if members.get("join") != _VERSION:
        raise BadRequestError(
            f"the gateway with the CA lets in by protocol {_VERSION} alone",
            "have both gateways the same version of sosa-gateway",
        )
    texts = [members.get(name) for name in ("secret", "member", "csr")]
    try:
        places = require_places(members.get("at"))
    except ValueError as error:
        raise BadRequestError(f"at: {error}") from error
    match texts:
        case [str() as secret, str() as member, str() as csr]:
            return Newcomer(secret, member, csr.encode(errors="replace"), places)
        case _:
            raise BadRequestError("secret, member and csr are to be texts")


def answered(let_in: LetIn) -> bytes:
    """The line for who was let in."""
    members = {
        "certificate": let_in.certificate.decode(),
        "roster": let_in.signed.text.decode(),
    }
    return json.dumps(members).encode() + b"\n"


def refused(error: GatewayError) -> bytes:
    """The line for who was not."""
    return json.dumps({"error": error.description, "what_to_do": error.hint}).encode() + b"\n"


def read_answered(line: bytes, authority: bytes) -> LetIn:
    """What the CA with this certificate gave; raises ConflictError where it gave nothing."""
    members = _members(line)
    if "error" in members:
        raise ConflictError(f"{members['error']:.500}", f"{members.get('what_to_do', ''):.500}")
    match members:
        case {"certificate": str() as certificate, "roster": str() as roster}:
            return LetIn(certificate.encode(), read_roster(roster.encode(), authority))
        case _:
            raise BadRequestError("the gateway with the CA gave no answer that can be read")


def packed(kind: str, content: bytes) -> bytes:
    """A message to another member."""
    message: bytes = msgpack.packb([kind, content])
    return message


def unpacked(payload: bytes) -> tuple[str, bytes]:
    """The reverse of `packed`. Raises WireError."""
    if len(payload) > MOST_ANSWERED:
        raise WireError(f"{len(payload)} bytes about members are more than {MOST_ANSWERED}")
    try:
        match msgpack.unpackb(payload, max_array_len=2, max_map_len=0):
            case [str() as kind, bytes() as content]:
                return kind, content
    except (ValueError, TypeError, msgpack.UnpackException, RecursionError) as error:
        raise WireError(f"nothing about members: {error!r:.200}") from error
    raise WireError("nothing about members")


def _members(line: bytes) -> Mapping[str, object]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadRequestError(f"this is no line of JSON: {error}") from error
    if not isinstance(found, dict):
        raise BadRequestError("this is no JSON object")
    return found
