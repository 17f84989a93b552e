"""A CA and certificates of members, made for one run: `bench federation` talks by mutual TLS."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from gateway.federation.zenoh_carrier import TlsFiles

_DAY = timedelta(days=1)


def certificates(folder: Path, members: Sequence[str]) -> dict[str, TlsFiles]:
    """By member: the CA, a certificate for client and server whose CN is its name, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("bench CA")
    constraints = x509.BasicConstraints(ca=True, path_length=0)
    ca = _builder(name, name, key).add_extension(constraints, critical=True)
    (folder / "ca.pem").write_bytes(_signed(ca, key))
    return {member: _issued(folder, member, name, key) for member in members}


def _issued(
    folder: Path, member: str, issuer: x509.Name, ca_key: ec.EllipticCurvePrivateKey
) -> TlsFiles:
    key = ec.generate_private_key(ec.SECP256R1())
    usages = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
    here = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    builder = _builder(_name(member), issuer, key).add_extension(here, critical=False)
    builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
    certificate, private = folder / f"{member}.pem", folder / f"{member}.key"
    certificate.write_bytes(_signed(builder, ca_key))
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return TlsFiles(str(folder / "ca.pem"), str(certificate), str(private))


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _DAY)
        .not_valid_after(now + _DAY)
    )


def _signed(builder: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey) -> bytes:
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
