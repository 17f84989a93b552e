"""The settings of upgrades: [upgrade] of gateway.toml (docs/upgrades.md).

Place: a section of `gateway.config.settings`, of which it knows nothing.
"""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from gateway.config.values import Section


def _place(text: str) -> str:
    if text and not text.startswith(("/", "https://")):
        raise ValueError('use an absolute folder or an address that begins with "https://"')
    return text


class UpgradeSettings(Section):
    """Where releases come from when somebody asks for one; "" is nowhere, and nothing is asked."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    source: Annotated[str, AfterValidator(_place), Field(alias="from")] = ""
