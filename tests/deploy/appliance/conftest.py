"""One card for all steps, each of which finds the device on, claimed and serving."""

import shutil
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.image.__main__ import _parser, build_image
from tests.deploy.appliance.device import CODE, CREDENTIALS, Device
from tests.deploy.appliance.machine import Machine, flash, has_kvm
from tests.deploy.appliance.steps import (
    ARCH,
    FOLDER,
    PATIENCE_S,
    RESUMES,
    measured,
    passed,
    remember,
)

KEY = FOLDER / "release.key"
"""Signs the image's releases; made for each card."""

WISHES = f"""\
[device]
name = "kitchen"
claim_code = "{CODE}"
ssh_keys = ["{{key}}"]

[limits]
query_s = 300  # what an emulated processor may take
"""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A step that has passed is not done again by a run that goes on."""
    report = yield
    if report.when == "call" and report.passed and item.get_closest_marker("appliance"):
        remember(item.name, report.duration)
    return report


@pytest.fixture(autouse=True)
def not_done_again(request: pytest.FixtureRequest) -> None:
    """Where a run goes on, what has passed is behind it."""
    if RESUMES and request.node.get_closest_marker("appliance") and request.node.name in passed():
        pytest.skip("passed before")


@pytest.fixture(scope="session")
def card() -> Iterator[Machine]:
    """Flashed, with wishes on it; off at first, and at the end."""
    if not RESUMES or not (FOLDER / "card.img").exists():
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        flash(_image(), FOLDER / "card.img")
    machine = Machine(ARCH, FOLDER)
    if not (FOLDER / CREDENTIALS).exists():
        machine.put("gateway.toml", WISHES.format(key=machine.make_key()))
    yield machine
    machine.cut_power()


@pytest.fixture
def unclaimed(card: Machine) -> Iterator[Device]:
    """The device serves, whatever the step before left of it."""
    if card.is_on and not card.is_ready_within(PATIENCE_S):
        card.cut_power()
    if not card.is_on:
        measured(f"ready {card.switch_on():.0f} s after power on, kvm: {has_kvm(ARCH)}")
    with Device(card) as device:
        yield device


@pytest.fixture
def device(unclaimed: Device) -> Device:
    """It serves, and we are its first client."""
    if not unclaimed.is_claimed:
        unclaimed.claim()
    if not unclaimed.is_mapped:
        unclaimed.add_mapping()
    return unclaimed


def _image() -> Path:
    """As `build-image` makes it now, with a key of its own for releases."""
    key = Ed25519PrivateKey.generate()
    KEY.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    output = FOLDER / "image"
    words = ["--arch", ARCH, "--raw", "--sign", str(KEY), "--output", str(output)]
    begin = time.monotonic()
    try:
        made = build_image(_parser().parse_args(words))
    except BuildError as error:
        pytest.skip(f"no image can be built here: {error}")
    told = {path.suffix: round(path.stat().st_size / 1e6) for path in made}
    measured(f"built for {ARCH} in {time.monotonic() - begin:.0f} s, MB: {told}")
    return next(path for path in made if path.suffix == ".img")
