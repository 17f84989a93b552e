"""A folder that Mosquitto can come into, which gives up root's rights when it has them."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


@pytest.fixture
def place() -> Iterator[Path]:
    with TemporaryDirectory(prefix="sosa-gateway-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
