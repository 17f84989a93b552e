"""Which landing zone an address means: a folder, a collector by HTTP, or what fsspec reaches."""

from collections.abc import Mapping
from pathlib import Path

from gateway.errors import ConfigurationError
from gateway.shipping.folder import Folder
from gateway.shipping.remote import Remote
from gateway.shipping.upload import Collector
from gateway.shipping.zone import LandingZone


def open_zone(
    to: str, options: Mapping[str, object], token_file: str = "", ca_file: str = ""
) -> LandingZone:
    """The zone of an address; raises ConfigurationError for one that cannot be served."""
    scheme, separator, rest = to.partition("://")
    if not separator:
        return Folder(Path(to))
    if scheme == "file":
        return Folder(Path(rest))
    if scheme in {"http", "https"}:
        return Collector(to, lambda: read_token(token_file), Path(ca_file) if ca_file else None)
    return Remote(to, options)


def read_token(token_file: str) -> str:
    """The first line of a file, read anew so that it can be changed; "" without a file."""
    if not token_file:
        return ""
    try:
        return Path(token_file).read_text(encoding="utf-8").partition("\n")[0].strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"[shipping] token_file: cannot read {token_file}: {error}",
            "write the token that the collector knows into this file",
        ) from error
