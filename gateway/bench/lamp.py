"""`lamp`: the update profile LAMP on the city (seed 000, section VI; engine.md, section 6).

Place on the way of the data: the engine alone. Each update sets one lamp; of 1,004 subscriptions
23 are told once, and the LUTTs let 0.40 % of the pairs of update and subscription through.
"""

from collections.abc import Iterator

from gateway.bench.city import lamp_profile, subscription_profile
from gateway.bench.city_run import Profile, run_city
from gateway.bench.report import Outcome

NOTIFICATIONS = 23
HIT_RATE = "0.40%"


def measure() -> Iterator[Outcome]:
    """The one experiment."""
    profile = Profile("lamp", subscription_profile(), lamp_profile(), NOTIFICATIONS, HIT_RATE)
    yield run_city(profile)
