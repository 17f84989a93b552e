"""Shipping: sealed segments go from the journal to a landing zone, and are confirmed there.

Place on the way of the data: behind the journal, before the archive (docs/shipping.md).
"""

from gateway.shipping.shipper import RETRY_MOST_S, RETRY_S, Shipper, ShippingStatistics
from gateway.shipping.zone import LandingZone, Parcel, place_of, shown
from gateway.shipping.zones import open_zone

__all__ = [
    "RETRY_MOST_S",
    "RETRY_S",
    "LandingZone",
    "Parcel",
    "Shipper",
    "ShippingStatistics",
    "open_zone",
    "place_of",
    "shown",
]
