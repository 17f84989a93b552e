"""Certificates of a federation: a CA of its own, and one for each member, in both directions.

    member: key, request (CSR) -> CA -> certificate, by which it dials and is dialled

Place: below all that is about members. The common name is the gateway's id: the carrier's rights
are given by it. Certificates are valid from the CA's own beginning, which lies before every clock:
a small computer without a battery wakes up in 1970, and would be shut out where it matters least.
Source: RFC 5280 (profile of certificates, 4.1.2.5 on validity without an end), RFC 2986 (CSR).
"""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from gateway.errors import BadRequestError, ConfigurationError
from gateway.security.certificates import Issued, as_pem, key_usage, named, signing_key

MEMBER_YEARS = 20
RENEW = timedelta(days=3650)
"""A certificate with less than this left is renewed over the link."""

_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
_NEVER = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
_PRESENT = datetime(2026, 1, 1, tzinfo=UTC)
"""No certificate of this version was made before: a clock that says so is wrong."""

_MOST_REQUEST = 8192


@dataclass(frozen=True, slots=True)
class Request:
    """What a member asks the CA for: its CSR, and the key that stays with it; both PEM."""

    csr: bytes
    key: bytes


def make_authority(federation: str) -> Issued:
    """The CA of a new federation. Its certificate proves its key in TLS, too, at a join."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject, public = named(federation), key.public_key()
    usage = key_usage(digital_signature=True, key_cert_sign=True, crl_sign=True)
    certificate = (
        _builder(subject, subject, public, _NEVER)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .sign(key, hashes.SHA256())
    )
    return as_pem(certificate, key)


def make_request(member: str) -> Request:
    """A new key of a member, and its request for a certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    return Request(_csr(member, key), _pem(key))


def request_again(member: str, key: bytes) -> bytes:
    """The request for another certificate of a key that is there. Raises ConfigurationError."""
    found = _private(key)
    return _csr(member, found)


def issue(csr: bytes, member: str, authority: Issued, now: datetime) -> bytes:
    """The certificate of a member, for 20 years from `now`; PEM.

    Raises BadRequestError for a request that is none, or of another name.
    """
    public = _requested(csr, member)
    issuer = x509.load_pem_x509_certificate(authority.certificate)
    signing = signing_key(authority)
    until = _years_later(max(now, _PRESENT), MEMBER_YEARS)
    usages = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
    certificate = (
        _builder(named(member), issuer.subject, public, until)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(key_usage(digital_signature=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signing.public_key()),
            critical=False,
        )
        .sign(signing, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM)


def fault(certificate: bytes, key: bytes, authority: bytes, member: str) -> str:
    """Why this is not the certificate of a member, by its CA and of its key; "" where it is."""
    try:
        found = x509.load_pem_x509_certificate(certificate)
        found.verify_directly_issued_by(x509.load_pem_x509_certificate(authority))
        public = _private(key).public_key()
    except InvalidSignature:
        return "it was made by another CA"
    except (ValueError, TypeError, ConfigurationError) as error:
        return f"it cannot be read: {error}"
    names = found.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    if [each.value for each in names] != [member]:
        said = ", ".join(str(each.value) for each in names)
        return f'it is that of "{said}", and this gateway is "{member}"'
    return "" if found.public_key() == public else "the key is that of another certificate"


def fingerprint(certificate: bytes) -> bytes:
    """SHA-256 of a certificate (PEM). Raises ConfigurationError for what is none."""
    try:
        found = x509.load_pem_x509_certificate(certificate)
    except ValueError as error:
        raise ConfigurationError(f"this is no certificate: {error}") from error
    return hashlib.sha256(found.public_bytes(serialization.Encoding.DER)).digest()


def sign(message: bytes, authority: Issued) -> bytes:
    """The CA's signature (ECDSA, SHA-256)."""
    return signing_key(authority).sign(message, ec.ECDSA(hashes.SHA256()))


def is_signed(message: bytes, signature: bytes, authority: bytes) -> bool:
    """Whether the CA with this certificate signed it."""
    public = x509.load_pem_x509_certificate(authority).public_key()
    if not isinstance(public, ec.EllipticCurvePublicKey):
        return False
    try:
        public.verify(signature, message, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


def _builder(
    subject: x509.Name, issuer: x509.Name, public: ec.EllipticCurvePublicKey, until: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(_BEGIN)
        .not_valid_after(until)
    )


def _csr(member: str, key: ec.EllipticCurvePrivateKey) -> bytes:
    builder = x509.CertificateSigningRequestBuilder().subject_name(named(member))
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _requested(csr: bytes, member: str) -> ec.EllipticCurvePublicKey:
    """Whose key is to be certified; of the request itself nothing else is taken over."""
    try:
        if len(csr) > _MOST_REQUEST:
            raise ValueError("it is too long")
        found = x509.load_pem_x509_csr(csr)
        is_proved, public = found.is_signature_valid, found.public_key()
    except (ValueError, TypeError) as error:
        raise BadRequestError(f"this is no request for a certificate: {error}") from error
    if not is_proved or not isinstance(public, ec.EllipticCurvePublicKey):
        raise BadRequestError("the request does not prove an elliptic-curve key")
    if found.subject != named(member):
        raise BadRequestError("the request is of another name")
    return public


def _private(key: bytes) -> ec.EllipticCurvePrivateKey:
    found = serialization.load_pem_private_key(key, None)
    if not isinstance(found, ec.EllipticCurvePrivateKey):
        raise ConfigurationError("the key is of another kind than the gateway makes")
    return found


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _years_later(at: datetime, years: int) -> datetime:
    return at + timedelta(days=365 * years + years // 4)
