"""Shipping: sealed segments go from the journal to a landing zone, and are confirmed there.

Place on the way of the data: behind the journal, before the archive (docs/shipping.md).
"""

from gateway.shipping.shipper import Shipper, ShippingStatistics
from gateway.shipping.zone import LandingZone, Parcel, place_of, shown
from gateway.shipping.zones import open_zone

__all__ = [
    "LandingZone",
    "Parcel",
    "Shipper",
    "ShippingStatistics",
    "open_zone",
    "place_of",
    "shown",
]
