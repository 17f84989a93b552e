"""The shipper that the configuration asks for."""

from gateway.config.journal import ShippingSettings
from gateway.journal import Journal
from gateway.shipping import Shipper, open_zone, shown


def shipper_of(settings: ShippingSettings, journal: Journal) -> Shipper | None:
    """None where no landing zone is set; raises ConfigurationError for one that cannot be."""
    if not settings.to:
        return None
    return Shipper(
        journal.folder,
        journal.manifest,
        open_zone(settings.to, settings.options, settings.token_file, settings.ca_file),
        shown(settings.to),
        retry_s=settings.retry_s,
        retry_most_s=settings.retry_most_s,
    )
