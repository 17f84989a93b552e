"""What tests of backups have in common."""

from collections.abc import Iterator
from unittest.mock import patch

import pytest


@pytest.fixture(autouse=True)
def cheap_passphrases() -> Iterator[None]:
    """Trying a passphrase costs here what it may not cost elsewhere."""
    with patch("gateway.admin.keeping.encryption.MEMORY_KIB", 8):
        yield
