"""Certificates, the broker elsewhere, the landing zone: what a gateway is told to use and to trust.

Place: each is read, or dialled, by the code that a gateway uses for it.
"""

from collections.abc import Iterator
from pathlib import Path

from gateway.admin.profile_checks import Finding
from gateway.app.brokers.settings import external_settings
from gateway.app.federation.members import membership_folder
from gateway.cli.checking.folder import Where
from gateway.cli.checking.mosquitto import mosquitto_findings
from gateway.config.settings import Config
from gateway.errors import ConfigurationError, GatewayError, NotFoundError
from gateway.federation.zenoh_carrier import require_zenoh
from gateway.gates.modbus.line import require_library
from gateway.gates.mqtt.external.trial import refusal
from gateway.security.tls import SOON_DAYS, GivenCertificate, own_fault, read_pem
from gateway.shipping import open_zone
from gateway.shipping.zones import read_token

BROKER_S = 5.0
"""How long an external broker may take to answer."""


def tls_findings(config: Config, where: Where) -> Iterator[Finding]:
    """What is wrong with the files of [tls]."""
    if config.tls.mode == "own":
        fault = own_fault(config.gateway.data_dir / "tls")
        if fault is not None:
            yield Finding.of(where("tls", "mode"), fault)
    elif config.tls.mode == "files":
        yield from _given(config, where)


def _given(config: Config, where: Where) -> Iterator[Finding]:
    files = {name: Path(getattr(config.tls, name)) for name in ("certificate", "key")}
    unread = []
    for name, path in files.items():
        try:
            read_pem(path)
        except ConfigurationError as error:
            unread.append(Finding.of(where("tls", name), error))
    yield from unread
    if unread:
        return
    place = where("tls", "certificate")
    try:
        left = GivenCertificate(files["certificate"], files["key"]).left
    except GatewayError as error:
        yield Finding.of(place, error)
        return
    if left.days < 0:
        reason = f"{files['certificate']} has ended {-left.days} days ago: no client will trust it"
        yield Finding(place, reason, what_to_do="put a new one there")
    elif left.days < SOON_DAYS:
        reason = f"{files['certificate']} ends in {left.days} days"
        yield Finding(place, reason, is_error=False, what_to_do="put a new one there in time")


def broker_findings(config: Config, where: Where) -> Iterator[Finding]:
    """Why an external broker would not be used: its files, its address, TLS, the login."""
    if config.mqtt.mode == "mosquitto":
        yield from mosquitto_findings(config, where)
    if config.mqtt.mode != "external":
        return
    wrong = []
    for name, read in (
        ("password_file", config.mqtt.read_password),
        ("ca_file", config.mqtt.client_context),
    ):
        try:
            read()
        except ConfigurationError as error:
            wrong.append(Finding.of(where("mqtt", name), error))
    yield from wrong
    refused = None if wrong else refusal(external_settings(config), BROKER_S)
    if refused is not None:
        yield Finding.of(where("mqtt", "host"), refused)


def modbus_findings(config: Config, where: Where) -> Iterator[Finding]:
    """Whether there is what buses need, and the lines that they name; no device is asked."""
    buses = config.modbus.buses
    if not buses:
        return
    place = where("modbus", "buses")
    try:
        require_library()
    except ConfigurationError as error:
        yield Finding.of(place, error)
    for bus in buses:
        if bus.is_serial and not Path(bus.device).exists():
            reason = f'bus "{bus.name}": {bus.device} is not there'
            hint = "plug the adapter in; ls /dev/serial/by-id has names that stay"
            yield Finding(place, reason, is_error=False, what_to_do=hint)


def federation_findings(config: Config, where: Where) -> Iterator[Finding]:
    """Whether there is what a federation needs, and a certificate that fits; nobody is dialled."""
    settings = config.federation
    if not settings.is_on:
        return
    place = where("federation", "via" if settings.via else "listen")
    try:
        require_zenoh()
    except ConfigurationError as error:
        yield Finding.of(place, error)
    if not settings.via:
        return
    try:
        membership_folder(config).read(config.gateway.id)
    except NotFoundError as error:
        reason = error.description
        yield Finding(place, reason, is_error=False, what_to_do=error.hint)
    except GatewayError as error:
        yield Finding.of(place, error)


def shipping_findings(config: Config, where: Where) -> Iterator[Finding]:
    """What is wrong with the address of the landing zone and its token; it is not asked."""
    settings = config.shipping
    try:
        if settings.to:
            open_zone(settings.to, settings.options, settings.token_file, settings.ca_file)
            read_token(settings.token_file)
    except ConfigurationError as error:
        yield Finding.of(where("shipping", "to"), error)
