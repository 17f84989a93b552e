"""The settings of the journal and of its shipping.

Place: two sections of `gateway.config.settings`, of which they know nothing.
"""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator

from gateway.config.values import Section
from gateway.journal import JournalLimits
from gateway.shipping import RETRY_MOST_S, RETRY_S

_LIMITS = JournalLimits()


class JournalSettings(Section):
    """The durable spool of observations: what a power cut may cost, how long and how large it is.

    docs/shipping.md, "The journal", says what each means.
    """

    fsync: bool = _LIMITS.fsync
    fsync_interval_s: Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False)] = (
        _LIMITS.fsync_interval_s
    )
    segment_observations: Annotated[int, Field(ge=1, le=1_000_000)] = _LIMITS.segment_observations
    segment_bytes: Annotated[int, Field(ge=4096)] = _LIMITS.segment_bytes
    segment_s: Annotated[float, Field(ge=1, allow_inf_nan=False)] = _LIMITS.segment_s
    max_bytes: Annotated[int, Field(ge=65_536)] = _LIMITS.max_bytes
    free_bytes: Annotated[int, Field(ge=0)] = _LIMITS.free_bytes
    keep_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = _LIMITS.keep_s
    drop_unshipped: bool = _LIMITS.drop_unshipped

    def limits(self) -> JournalLimits:
        """The same as the journal wants them."""
        return JournalLimits(**self.model_dump())


class ShippingSettings(Section):
    """Where sealed segments go: a folder or an address; "" keeps them here.

    `options` are the fsspec driver's own; `token_file` and `ca_file` are for a collector by HTTP.
    A pause between tries is random, at most `retry_s`, doubled by each failure, and `retry_most_s`.
    """

    to: str = ""
    token_file: str = ""
    ca_file: str = ""
    retry_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = RETRY_S
    retry_most_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = RETRY_MOST_S
    options: dict[str, JsonValue] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        scheme = self.to.partition("://")[0] if "://" in self.to else ""
        if (self.token_file or self.ca_file) and scheme not in {"http", "https"}:
            raise ValueError('token_file and ca_file are for to = "https://…"; remove them')
        if self.options and scheme in {"", "file", "http", "https"}:
            raise ValueError("options are for a driver of fsspec (s3://, sftp://); remove them")
        return self

    def at(self, folder: Path) -> Self:
        """The same, relative paths taken from `folder`."""
        is_path = bool(self.to) and "://" not in self.to
        update = {
            "to": str(folder / self.to) if is_path else self.to,
            "token_file": self.token_file and str(folder / self.token_file),
            "ca_file": self.ca_file and str(folder / self.ca_file),
        }
        return self.model_copy(update=update)
