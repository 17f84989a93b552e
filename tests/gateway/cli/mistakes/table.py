"""The table: one row a mistake, in the chapters of docs/mistakes.md, which is made of it."""

from collections.abc import Mapping

from tests.gateway.cli.mistakes.asking import ASKING, SECURITY
from tests.gateway.cli.mistakes.meaning import MEANING
from tests.gateway.cli.mistakes.row import Row
from tests.gateway.cli.mistakes.starting import ENDING, SETTINGS

CHAPTERS: Mapping[str, tuple[Row, ...]] = {
    "Settings, folders, ports": SETTINGS,
    "What messages mean": MEANING,
    "Commands": ASKING,
    "TLS, credentials, rights": SECURITY,
    "Ending it": ENDING,
}
