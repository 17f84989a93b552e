"""TLS for tests of the embedded broker: a certificate by a CA of its own."""

import ssl

import pytest

from gateway.security.tls import OwnCertificate


@pytest.fixture(scope="session")
def own_certificate(tmp_path_factory: pytest.TempPathFactory) -> OwnCertificate:
    return OwnCertificate(tmp_path_factory.mktemp("tls"), lambda: ("127.0.0.1",))


@pytest.fixture
def server_tls(own_certificate: OwnCertificate) -> ssl.SSLContext:
    return own_certificate.context


@pytest.fixture
def client_tls(own_certificate: OwnCertificate) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(own_certificate.ca_path))
