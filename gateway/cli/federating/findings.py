"""What keeps a gateway from the others of its federation: looked for one by one, nothing changed.

Place: behind `sosa-gateway federation check`. Each member is dialled with this gateway's own
certificate, as its links are.
"""

import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime

from cryptography import x509
from cryptography.x509.oid import NameOID

from gateway.app.federation.members import listening, membership_folder
from gateway.cli.checking.folder import holder_of, is_own
from gateway.config.settings import Config
from gateway.errors import ConfigurationError, GatewayError
from gateway.federation.membership.certificates import RENEW
from gateway.federation.membership.folder import Membership, MembershipFolder
from gateway.federation.membership.places import PORT, Place
from gateway.federation.zenoh_carrier import require_zenoh
from gateway.runtime.alarms import AlarmKind, Condition
from gateway.security.certificates import expires_at

_PATIENCE_S = 5.0
_KIND = AlarmKind.FEDERATION


def findings(config: Config) -> Iterator[Condition]:
    """What is wrong, each with what to do."""
    if not config.federation.via:
        yield Condition(_KIND, "gateway.toml", "there is no [federation] via", "name a gateway")
        return
    try:
        require_zenoh()
    except ConfigurationError as error:
        yield Condition(_KIND, "zenoh", error.description, error.hint)
    folder, own = membership_folder(config), config.gateway.id
    try:
        membership = folder.read(own)
    except GatewayError as error:
        yield Condition(_KIND, str(folder.path), error.description, error.hint)
        return
    yield from _own(config, membership)
    for name, entry in sorted(membership.signed.roster.others(own).items()):
        places = [Place.parse(each, PORT) for each in entry.at]
        wrong = [_dialled(folder, name, place) for place in places]
        if places and all(wrong):
            hint = "see that it runs, and that nothing keeps the network from it"
            yield Condition(_KIND, name, "; ".join(wrong), hint)


def _own(config: Config, membership: Membership) -> Iterator[Condition]:
    """What is wrong here."""
    own, roster = config.gateway.id, membership.signed.roster
    if own not in roster.members:
        what = f"it was removed from the federation {roster.federation}"
        yield Condition(_KIND, own, what, "remove data_dir/federation, to join again")
    left = expires_at(membership.certificate) - datetime.now(UTC)
    if left < RENEW / 10:
        what = f"the certificate ends in {left.days} days"
        hint = f"let {roster.authority} run, which has the CA: it is renewed over the link"
        yield Condition(_KIND, own, what, hint)
    if config.federation.hub and own not in roster.hubs:
        what = f"it is to be a hub, and {roster.authority} has the CA: only the gateway with it can"
        yield Condition(_KIND, own, what, "`sosa-gateway federation adopt FILE` here")
    place, holder = listening(config), holder_of(config)
    if (holder is None or not is_own(config, holder)) and (taken := _taken(place)):
        yield Condition(_KIND, str(place), taken, "free the port, or set [federation] listen")


def _taken(place: Place) -> str:
    try:
        with socket.create_server(place):
            return ""
    except OSError as error:
        return f"nothing can listen there: {error.strerror or error}"


def _dialled(folder: MembershipFolder, name: str, place: Place) -> str:
    """Why a member is not reached at a place; "" where it is."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(folder.authority)
    context.load_cert_chain(folder.certificate, folder.key)
    try:
        with (
            socket.create_connection(place, _PATIENCE_S) as plain,
            context.wrap_socket(plain) as link,
        ):
            shown = x509.load_der_x509_certificate(link.getpeercert(binary_form=True) or b"")
    except (OSError, ValueError) as error:
        return f"{place} is not reached: {error}"
    found = [each.value for each in shown.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    return "" if found == [name] else f"{place} is {', '.join(map(str, found))}, not {name}"
