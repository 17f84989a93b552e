"""What tests of the package have in common."""

import pytest

from gateway.cli.command import documented
from gateway.cli.options import Documented


@pytest.fixture(scope="module")
def commands() -> list[Documented]:
    """Every command as the manual tells it."""
    return list(documented())
