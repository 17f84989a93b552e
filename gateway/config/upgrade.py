"""The settings of upgrades: [upgrade] of gateway.toml (docs/upgrades.md).

Place: a section of `gateway.config.settings`, of which it knows nothing.
"""

from typing import Annotated, Any

from pydantic import AfterValidator, create_model

from gateway.config.values import Section


def _place(text: str) -> str:
    if text and not text.startswith(("/", "https://")):
        raise ValueError('use an absolute folder or an address that begins with "https://"')
    return text


# A keyword of Python, and the word for it all the same.
_FROM: dict[str, Any] = {"from": (Annotated[str, AfterValidator(_place)], "")}
_WITH_FROM = create_model("_WithFrom", __base__=Section, **_FROM)


class UpgradeSettings(_WITH_FROM):  # type: ignore[valid-type,misc]  # a class made just before
    """Where releases come from when somebody asks for one; "" is nowhere, and nothing is asked."""
