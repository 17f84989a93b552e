"""Certificates that the gateway makes itself: a CA, and from it the server's.

Place: `tls` keeps them in files. Sources: RFC 5280 (profile of certificates), RFC 9525 (names in
them); P-256, which every TLS 1.2 client knows and a small device computes fast.
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from gateway.errors import ConfigurationError

CA_DAYS = 3650
SERVER_DAYS = 397
"""The longest that browsers take."""

RENEW_DAYS = 30
_SKEW = timedelta(days=1)
"""A client's clock may be behind."""


@dataclass(frozen=True, slots=True)
class Issued:
    """A certificate with its private key, both as PEM."""

    certificate: bytes
    key: bytes


def make_ca(name: str, now: datetime) -> Issued:
    """A CA that may sign servers and no further CA."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = named(f"{name} CA")
    public = key.public_key()
    certificate = (
        _builder(subject, subject, public, now, CA_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(key_usage(key_cert_sign=True, crl_sign=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .sign(key, hashes.SHA256())
    )
    return as_pem(certificate, key)


def make_server(names: Sequence[str], authority: Issued, now: datetime) -> Issued:
    """The certificate of a server that is called by these names and addresses."""
    issuer = x509.load_pem_x509_certificate(authority.certificate)
    signing = signing_key(authority)
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key()
    certificate = (
        _builder(named(names[0]), issuer.subject, public, now, SERVER_DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(_alternatives(names)), critical=False)
        .add_extension(key_usage(digital_signature=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signing.public_key()),
            critical=False,
        )
        .sign(signing, hashes.SHA256())
    )
    return as_pem(certificate, key)


def is_fit(server: bytes, authority: bytes, names: Sequence[str], now: datetime) -> bool:
    """Whether the server's certificate is the CA's, has the names and lasts a month more.

    One that cannot be read is not: another one is made.
    """
    try:
        certificate = x509.load_pem_x509_certificate(server)
        certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(authority))
        alternatives = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except (ValueError, TypeError, InvalidSignature, x509.ExtensionNotFound):
        return False
    lasts = certificate.not_valid_after_utc - now > timedelta(days=RENEW_DAYS)
    begun = certificate.not_valid_before_utc <= now
    return lasts and begun and list(alternatives.value) == _alternatives(names)


def expires_at(certificate: bytes) -> datetime:
    """When a certificate ends. Raises ConfigurationError for what is none."""
    try:
        return x509.load_pem_x509_certificate(certificate).not_valid_after_utc
    except ValueError as error:
        raise ConfigurationError(f"this is no certificate: {error}") from error


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    public: ec.EllipticCurvePublicKey,
    now: datetime,
    days: int,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now - _SKEW + timedelta(days=days))
    )


def named(name: str) -> x509.Name:
    """A subject with this common name, at most 64 characters of it."""
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])


def _alternatives(names: Sequence[str]) -> list[x509.GeneralName]:
    return [_alternative(name) for name in dict.fromkeys(names)]


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name.strip("[]")))
    except ValueError:
        return x509.DNSName(name)


def key_usage(
    *, digital_signature: bool = False, key_cert_sign: bool = False, crl_sign: bool = False
) -> x509.KeyUsage:
    """What the key may be used for, and for nothing else."""
    return x509.KeyUsage(
        digital_signature=digital_signature,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=key_cert_sign,
        crl_sign=crl_sign,
        encipher_only=False,
        decipher_only=False,
    )


def signing_key(authority: Issued) -> ec.EllipticCurvePrivateKey:
    """The key of a CA that the gateway made. Raises ConfigurationError."""
    key = serialization.load_pem_private_key(authority.key, None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ConfigurationError("the key of the CA is of another kind than the gateway makes")
    return key


def as_pem(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Issued:
    """Both as PEM, the key without a password."""
    return Issued(
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )
