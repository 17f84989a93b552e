"""One contract for every carrier: order, presence, who sends, and what is lost without a word."""

import queue
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Protocol

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from gateway.errors import ConfigurationError
from gateway.federation.carrier import Carrier, Channel, Received
from gateway.federation.loopback import LoopbackNet
from gateway.federation.zenoh_carrier import Endpoints, TlsFiles, ZenohCarrier
from tests.kit.gateways import WAIT_S, free_port

A, B = "attic", "cellar"


class Authority:
    """A CA in a folder, and the certificates of members that it issues."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder / name
        self._folder.mkdir()
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        basic = x509.BasicConstraints(ca=True, path_length=0)
        certificate = self._builder(self._name, self._key).add_extension(basic, critical=True)
        self._write("ca.pem", certificate)

    def issue(self, member: str) -> TlsFiles:
        """Client and server certificate of a member; its name is the CN."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, member)])
        here = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
        builder = self._builder(name, key).add_extension(here, critical=False)
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        path = self._folder / f"{member}.key"
        path.write_bytes(
            key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, serialization.NoEncryption())
        )
        return TlsFiles(
            str(self._folder / "ca.pem"), str(self._write(f"{member}.pem", builder)), str(path)
        )

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey
    ) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
        )

    def _write(self, name: str, builder: x509.CertificateBuilder) -> Path:
        path = self._folder / name
        signed = builder.sign(self._key, hashes.SHA256())
        path.write_bytes(signed.public_bytes(Encoding.PEM))
        return path


TIMES = 5
"""So often is said what a carrier may lose."""


class Ear:
    """What one end was told."""

    def __init__(self) -> None:
        self.messages: queue.SimpleQueue[Received] = queue.SimpleQueue()
        self.presence: queue.SimpleQueue[tuple[str, bool]] = queue.SimpleQueue()

    def listen(self, carrier: Carrier) -> None:
        carrier.listen(self.messages.put, lambda name, is_up: self.presence.put((name, is_up)))


class Pair(Protocol):
    """Two ends of a carrier."""

    def end(self, name: str) -> Carrier: ...

    def wait(self, waiting: "queue.SimpleQueue[object]", timeout_s: float = WAIT_S) -> object: ...


class LoopbackPair:
    def __init__(self) -> None:
        self.net = LoopbackNet(Random(1))

    def end(self, name: str) -> Carrier:
        return self.net.carrier(name)

    def wait(self, waiting: "queue.SimpleQueue[object]", timeout_s: float = WAIT_S) -> object:
        self.net.run()
        return waiting.get_nowait()


class ZenohPair:
    def __init__(self) -> None:
        pytest.importorskip("zenoh", reason="the extra federation is not installed")
        self.at = {each: f"127.0.0.1:{free_port()}" for each in (A, B)}

    def end(self, name: str) -> Carrier:
        return self.end_by(name, None)

    def end_by(self, name: str, tls: TlsFiles | None) -> Carrier:
        other = B if name == A else A
        return ZenohCarrier(name, [other], Endpoints((self.at[name],), (self.at[other],), tls))

    def wait(self, waiting: "queue.SimpleQueue[object]", timeout_s: float = WAIT_S) -> object:
        return waiting.get(timeout=timeout_s)


class TlsPair(ZenohPair):
    """The same with mutual TLS."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = TemporaryDirectory()
        self._ca = Authority(Path(self._folder.name), "ca")

    def end(self, name: str) -> Carrier:
        return self.end_by(name, self._ca.issue(name))

    def close(self) -> None:
        self._folder.cleanup()


@pytest.fixture(params=[LoopbackPair, ZenohPair, TlsPair])
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    made: Pair = request.param()
    yield made
    if isinstance(made, TlsPair):
        made.close()


def test_messages_come_in_order_with_who_sent_them(pair: Pair) -> None:
    one, other, ear, deaf = pair.end(A), pair.end(B), Ear(), Ear()
    try:
        ear.listen(one)
        deaf.listen(other)
        assert pair.wait(ear.presence) == (B, True)  # type: ignore[arg-type]
        assert pair.wait(deaf.presence) == (A, True)  # type: ignore[arg-type]
        for channel in Channel:
            for number in range(50):
                other.send(A, channel, f"{number}".encode())
        told = [pair.wait(ear.messages) for _ in range(50 * len(Channel))]  # type: ignore[arg-type]
        for channel in Channel:
            of_channel = [each for each in told if each.channel is channel]  # type: ignore[attr-defined]
            assert [each.payload for each in of_channel] == [b"%d" % n for n in range(50)]  # type: ignore[attr-defined]
            assert {each.sender for each in of_channel} == {B}  # type: ignore[attr-defined]
        one.send(B, Channel.NEEDS, b"back")
        assert pair.wait(deaf.messages) == Received(A, Channel.NEEDS, b"back")  # type: ignore[arg-type]
        one.send("nobody", Channel.DATA, b"lost")
    finally:
        one.close()
        other.close()


def test_who_goes_and_comes_is_told(pair: Pair) -> None:
    one, other, ear = pair.end(A), pair.end(B), Ear()
    try:
        ear.listen(one)
        Ear().listen(other)
        assert pair.wait(ear.presence) == (B, True)  # type: ignore[arg-type]
        other.close()
        assert pair.wait(ear.presence) == (B, False)  # type: ignore[arg-type]
        one.send(B, Channel.DATA, b"to nobody")
        other = pair.end(B)
        Ear().listen(other)
        assert pair.wait(ear.presence) == (B, True)  # type: ignore[arg-type]
    finally:
        one.close()
        other.close()


def test_a_link_that_is_renewed_comes_again(pair: Pair) -> None:
    one, other, ear, deaf = pair.end(A), pair.end(B), Ear(), Ear()
    try:
        ear.listen(one)
        deaf.listen(other)
        assert pair.wait(ear.presence) == (B, True)  # type: ignore[arg-type]
        assert pair.wait(deaf.presence) == (A, True)  # type: ignore[arg-type]
        one.renew("nobody")
        one.renew(B)
        for told, name in ((ear, B), (deaf, A)):
            assert [pair.wait(told.presence) for _ in range(2)] == [(name, False), (name, True)]  # type: ignore[arg-type]
        told_until_heard(pair, other, ear, Received(B, Channel.ACK, b"again"))
    finally:
        one.close()
        other.close()


def told_until_heard(pair: Pair, end: Carrier, ear: Ear, message: Received) -> None:
    """A carrier may lose what is sent as soon as the other one is there: it is sent again."""
    for _ in range(TIMES):
        end.send(A, message.channel, message.payload)
        try:
            assert pair.wait(ear.messages, WAIT_S / TIMES) == message  # type: ignore[arg-type]
        except queue.Empty:
            continue
        return
    pytest.fail(f"nothing was heard of {TIMES} messages")


def test_a_closed_end_sends_nothing(pair: Pair) -> None:
    one, other, ear = pair.end(A), pair.end(B), Ear()
    try:
        ear.listen(one)
        Ear().listen(other)
        assert pair.wait(ear.presence) == (B, True)  # type: ignore[arg-type]
        other.close()
        other.close()
        other.send(A, Channel.DATA, b"lost")
        assert pair.wait(ear.presence) == (B, False)  # type: ignore[arg-type]
        assert ear.messages.empty()
    finally:
        one.close()


def test_a_certificate_of_another_ca_brings_nothing(tmp_path: Path) -> None:
    """The stranger, at the address of a member, is refused; the member that comes then is heard."""
    pair = ZenohPair()
    ours, theirs = Authority(tmp_path, "ours"), Authority(tmp_path, "theirs")
    one, ear, deaf = pair.end_by(A, ours.issue(A)), Ear(), Ear()
    stranger = pair.end_by(B, theirs.issue(B))
    try:
        ear.listen(one)
        deaf.listen(stranger)
        stranger.send(A, Channel.DATA, b"forged")
        stranger.close()
        member = pair.end_by(B, ours.issue(B))
        try:
            Ear().listen(member)
            assert pair.wait(ear.presence) == (B, True)  # type: ignore[arg-type]
            member.send(A, Channel.DATA, b"true")
            assert pair.wait(ear.messages) == Received(B, Channel.DATA, b"true")  # type: ignore[arg-type]
            assert deaf.presence.empty()
        finally:
            member.close()
    finally:
        one.close()


def test_a_link_of_who_is_no_member_any_more_is_closed(tmp_path: Path) -> None:
    """The removed one has a certificate that is good; a member's link beside it stays."""
    pair, ca = ZenohPair(), Authority(tmp_path, "ca")
    one, ear = pair.end_by(A, ca.issue(A)), Ear()
    gone_at, links = f"127.0.0.1:{free_port()}", queue.SimpleQueue[tuple[str, str]]()
    gone = ZenohCarrier("gone", [A], Endpoints((gone_at,), (pair.at[A],), ca.issue("gone")))
    member = pair.end_by(B, ca.issue(B))
    try:
        ear.listen(one)
        Ear().listen(gone)
        info = gone._session.info  # it is the removed one's, whoever wrote its program
        listener = info.declare_link_events_listener(
            lambda event: links.put((str(event.kind), event.link.auth_identifier)), history=True
        )
        for _ in range(2):  # it comes again, and is turned away again
            while links.get(timeout=WAIT_S) != ("SampleKind.DELETE", A):
                pass
        Ear().listen(member)
        assert ear.presence.get(timeout=WAIT_S) == (B, True)
        member.send(A, Channel.DATA, b"true")
        assert ear.messages.get(timeout=WAIT_S) == Received(B, Channel.DATA, b"true")
        while links.get(timeout=WAIT_S) != ("SampleKind.DELETE", A):
            pass
        assert ear.presence.empty()
        listener.undeclare()
    finally:
        for each in (one, gone, member):
            each.close()


def test_off_loopback_there_is_tls_alone() -> None:
    with pytest.raises(ConfigurationError, match="without TLS"):
        Endpoints(("0.0.0.0:7447",)).settings()
    with pytest.raises(ConfigurationError, match=r"attic\.local"):
        Endpoints(("127.0.0.1:7447",), ("attic.local:7447",)).settings()
    files = TlsFiles("ca.pem", "cert.pem", "key.pem")
    told = Endpoints(("0.0.0.0:7447",), tls=files).settings()
    assert told["listen/endpoints"] == ["tls/0.0.0.0:7447"]
    assert told["transport/link/tls/enable_mtls"] is True
