"""The settings of the journal and of its shipping.

Place: two sections of `gateway.config.settings`, of which they know nothing.
"""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator

from gateway.config.values import Section
from gateway.journal import JournalLimits


class JournalSettings(Section):
    """The durable spool of observations: what a power cut may cost, how long and how large it is.

    docs/shipping.md, "The journal", says what each means.
    """

    fsync: bool = True
    fsync_interval_s: Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False)] = 0.0
    segment_observations: Annotated[int, Field(ge=1, le=1_000_000)] = 100_000
    segment_bytes: Annotated[int, Field(ge=4096)] = 67_108_864
    segment_s: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 3600.0
    max_bytes: Annotated[int, Field(ge=65_536)] = 4_294_967_296
    free_bytes: Annotated[int, Field(ge=0)] = 67_108_864
    keep_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 120.0
    drop_unshipped: bool = False

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
    retry_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    retry_most_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 600.0
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
