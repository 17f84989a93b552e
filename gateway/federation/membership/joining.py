"""Joining a federation: a newcomer and the gateway with the CA, by a code that a person carries.

    code -> TLS to the host -> its certificate is the one of the fingerprint -> secret, CSR -> in

Place: behind `sosa-gateway federation join`. The host is believed because TLS shows that it has the
key of the certificate whose fingerprint the code has; before that nothing is said to it.
"""

import socket
import ssl
from datetime import datetime

from gateway.errors import ConflictError, UnreachableError
from gateway.federation.membership.acts import Acts, Newcomer
from gateway.federation.membership.certificates import fingerprint, make_request
from gateway.federation.membership.folder import MembershipFolder
from gateway.federation.membership.invitations import Code, short
from gateway.federation.membership.letters import MOST_ANSWERED, asked, read_answered
from gateway.federation.membership.places import Place, own_places
from gateway.federation.membership.roster import Roster

_PATIENCE_S = 20.0


def join(
    folder: MembershipFolder,
    member: str,
    code: Code,
    host: Place,
    *,
    listen: Place,
    now: datetime,
) -> Roster:
    """Have the gateway `member`, which listens at `listen`, be let in by `host`; the roster.

    Raises UnreachableError, ConflictError where the host is another one or refuses, StorageError.
    """
    acts = Acts(folder, member, now)
    acts.require_alone()
    request = make_request(member)
    try:
        with (
            socket.create_connection(host, _PATIENCE_S) as plain,
            _context().wrap_socket(plain) as link,
        ):
            shown = ssl.DER_cert_to_PEM_cert(link.getpeercert(binary_form=True) or b"").encode()
            if short(fingerprint(shown)) != code.fingerprint:
                raise ConflictError(
                    f"{host.host} is not the gateway that made the code",
                    "see that host and code are those that `federation create` printed",
                )
            places = own_places(listen, link.getsockname()[0])
            link.sendall(asked(Newcomer(code.secret, member, request.csr, places)))
            line = _line(link)
    except OSError as error:
        raise UnreachableError(
            f"{host} does not let anybody in: {error}",
            "see that its gateway runs, with `via`, and that the code is of today",
        ) from error
    return acts.join(shown, request.key, read_answered(line, shown))


def _context() -> ssl.SSLContext:
    """TLS to whoever answers; who that is, the fingerprint says."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _line(link: ssl.SSLSocket) -> bytes:
    """What comes until the other side closes, as far as it may be."""
    found = b""
    while chunk := link.recv(65_536):
        found += chunk
        if len(found) > MOST_ANSWERED:
            raise ConflictError("the answer is without end", "is this the right host?")
    return found
