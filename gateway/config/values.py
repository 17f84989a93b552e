"""The kinds of values that settings have, each with what is wrong with another one.

Place: under `gateway.config.settings`, whose sections are made of them.
"""

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field


def _one_as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _token(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", text):
        raise ValueError("use 1 to 64 letters, digits, '_', '-' or '.', a letter or digit first")
    return text


def _optional_token(text: str) -> str:
    return _token(text) if text else text


def _iri_prefix(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]*[/#:]", text):
        raise ValueError("use an absolute IRI that ends with '/', '#' or ':'")
    return text


def is_iri(text: str) -> bool:
    """Whether it is an absolute IRI."""
    return re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+", text) is not None


def _host(text: str) -> str:
    if not re.fullmatch(
        r"([a-z0-9-]+\.)*[a-z0-9-]+(:[0-9]{1,5})?|\[[0-9a-f:.]+\](:[0-9]{1,5})?", text
    ):
        raise ValueError("use the name of a host in lower case, with :port where it matters")
    return text


def _origin(text: str) -> str:
    if not re.fullmatch(r"https?://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?", text):
        raise ValueError("use an origin in lower case: http://name or https://name:port")
    return text


def _topic_prefix(text: str) -> str:
    if not re.fullmatch(r"[^+#$/\x00][^+#\x00]{0,200}(?<!/)", text):
        raise ValueError("use the beginning of a topic without + and #, and no / at its ends")
    return text


Port = Annotated[int, Field(ge=0, le=65535)]
Host = Annotated[str, AfterValidator(_host)]
Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Origin = Annotated[str, AfterValidator(_origin)]
Token = Annotated[str, AfterValidator(_token)]
OptionalToken = Annotated[str, AfterValidator(_optional_token)]
TopicPrefix = Annotated[str, AfterValidator(_topic_prefix)]
IriPrefix = Annotated[str, AfterValidator(_iri_prefix)]
ONE_AS_LIST = BeforeValidator(_one_as_list)
"""A single text stands for a list of it."""


class Section(BaseModel):
    """A table of gateway.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid")
