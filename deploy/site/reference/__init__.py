"""Pages of reference that are made of the code, as Markdown, each time the site is built."""

from collections.abc import Mapping

from deploy.site.reference.commands import commands_page
from deploy.site.reference.errors import errors_page
from deploy.site.reference.metrics import metrics_page
from deploy.site.reference.settings import settings_page
from deploy.site.reference.vocabulary import vocabulary_page

__all__ = ["reference_pages"]


def reference_pages() -> Mapping[str, str]:
    """Text by name; equal code gives equal text. Starts gateways on loopback for the metrics."""
    return {
        "commands": commands_page(),
        "errors": errors_page(),
        "metrics": metrics_page(),
        "settings": settings_page(),
        "vocabulary": vocabulary_page(),
    }
