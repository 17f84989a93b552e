"""Releases from an https address: what is verified, what is bounded, what is told."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deploy.raspberrypi.builder.archive import complete
from deploy.raspberrypi.builder.signing import public_pem, sign
from gateway.appliance.upgrade import source as module
from gateway.appliance.upgrade.source import Release, Source, System, compare
from gateway.config.upgrade import UpgradeSettings
from gateway.errors import ConfigurationError, UpgradeError

ADDRESS = "https://releases.lan/sosa/"
SYSTEM = System("13", "arm64")
NAME = "sosa-gateway_2.0-1~deb13_arm64.deb"

Answer = Callable[[httpx.Request], httpx.Response]


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    folder, signer = tmp_path / "dist", Ed25519PrivateKey.generate()
    folder.mkdir()
    (folder / NAME).write_bytes(b"a release")
    complete(folder, [folder / NAME], signer)
    (tmp_path / "key.pem").write_bytes(public_pem(signer))
    return folder


@contextmanager
def served(answer: Answer) -> Iterator[None]:
    """What httpx asks is answered here."""
    with httpx.Client(transport=httpx.MockTransport(answer)) as client:

        def stream(method: str, url: str, **options: Any) -> Any:
            assert options["timeout"]
            return client.stream(method, url, follow_redirects=options["follow_redirects"])

        with patch("gateway.appliance.upgrade.source.httpx.stream", stream):
            yield


def files_of(folder: Path) -> Answer:
    def answer(request: httpx.Request) -> httpx.Response:
        path = folder / request.url.path.removeprefix("/sosa/")
        return httpx.Response(200, content=path.read_bytes()) if path.exists() else _none()

    return answer


def _none() -> httpx.Response:
    return httpx.Response(404)


def source(dist: Path) -> Source:
    return Source(ADDRESS, dist.parent / "key.pem")


def test_the_newest_is_found_and_fetched(dist: Path) -> None:
    with served(files_of(dist)):
        release = source(dist).newest(SYSTEM)
        assert release is not None
        assert release.version == "2.0-1~deb13"
        target = io.BytesIO()
        source(dist).fetch(release, target)
    assert target.getvalue() == b"a release"
    with served(files_of(dist)):
        assert source(dist).newest(System("12", "arm64")) is None
        assert source(dist).newest(System("13", "amd64")) is None


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda _: _none(), "answers 404"),
        (lambda _: httpx.Response(302, headers={"Location": "https://x.lan/"}), "answers 302"),
        (lambda _: httpx.Response(200, content=bytes(module._SUMS_BYTES + 1)), "is too long"),
    ],
)
def test_what_an_address_answers_otherwise_is_told(dist: Path, answer: Answer, told: str) -> None:
    with served(answer), pytest.raises(UpgradeError, match=told):
        source(dist).newest(SYSTEM)


def test_an_address_that_is_not_reached_is_told(dist: Path) -> None:
    def fails(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no such host")

    with served(fails), pytest.raises(UpgradeError, match="cannot be had: no such host"):
        source(dist).newest(SYSTEM)


@pytest.mark.parametrize("place", ["https://[::1", "https://a b.lan:x/", "http://releases.lan"])
def test_what_is_no_address_is_told(dist: Path, place: str) -> None:
    with pytest.raises((UpgradeError, ConfigurationError), match=r"cannot be had|no https address"):
        Source(place, dist.parent / "key.pem").newest(SYSTEM)


def test_a_release_that_is_longer_than_any_is_given_up(dist: Path) -> None:
    release = Release("2.0-1~deb13", NAME, "0" * 64)
    with (
        served(files_of(dist)),
        patch.object(module, "_RELEASE_BYTES", 4),
        pytest.raises(UpgradeError, match="longer than any release"),
    ):
        source(dist).fetch(release, io.BytesIO())


def test_nothing_is_asked_where_nothing_is_said(dist: Path) -> None:
    with pytest.raises(ConfigurationError, match="nothing says where releases come from"):
        Source("", dist.parent / "key.pem").newest(SYSTEM)
    assert getattr(UpgradeSettings(), "from") == ""


@pytest.mark.parametrize("place", ["http://releases.lan", "dist", "ftp://x", "file:///x"])
def test_what_is_neither_a_folder_nor_https_is_refused(place: str) -> None:
    with pytest.raises(ValueError, match="absolute folder"):
        UpgradeSettings.model_validate({"from": place})


def test_a_key_of_another_kind_is_told(dist: Path) -> None:
    (dist.parent / "key.pem").write_text("nothing")
    with pytest.raises(UpgradeError, match="has no key"):
        source(dist).newest(SYSTEM)


def test_names_in_the_sums_lead_nowhere(dist: Path) -> None:
    """They become paths and addresses, and are signed; still, none leads elsewhere."""
    signer = Ed25519PrivateKey.generate()
    (dist.parent / "key.pem").write_bytes(public_pem(signer))
    evil = "0" * 64 + "  ../sosa-gateway_9.0-1~deb13_arm64.deb\n"
    (dist / "SHA256SUMS").write_text(evil)
    sign(dist, signer)
    with served(files_of(dist)):
        assert source(dist).newest(SYSTEM) is None


@pytest.mark.parametrize(
    ("one", "other", "order"),
    [("1.10-1~deb13", "1.9-1~deb13", 1), ("1.0~rc1-1", "1.0-1", -1), ("1.0-1", "1.0-1", 0)],
)
def test_versions_are_compared_as_debian_does(one: str, other: str, order: int) -> None:
    assert compare(one, other) == order
