"""What discovery counts."""

from collections.abc import Mapping

from gateway.admin.onboarding.discovery import DiscoveryStatistics
from gateway.admin.onboarding.onboarding import Onboarding
from gateway.runtime.measures import Measure


def discovery_measures(onboarding: Onboarding) -> tuple[Measure, ...]:
    """Announcements, what became of their proposals, topics that no mapping knows."""
    seen, unknown = onboarding.discovery.statistics, onboarding.unknown
    return (
        Measure(
            "announcements", "messages of devices about themselves", lambda: seen.announcements
        ),
        Measure(
            "announcements_passed_over",
            "beyond the queue, or too long",
            lambda: seen.passed_over,
        ),
        Measure("proposals", "mappings that devices proposed", lambda: _by(seen), label="outcome"),
        Measure(
            "unknown_topics",
            "topics heard that no mapping reads",
            lambda: len(unknown),
            is_counter=False,
        ),
        Measure(
            "unknown_topics_forgotten",
            "topics that made room for others",
            lambda: unknown.forgotten,
        ),
    )


def _by(seen: DiscoveryStatistics) -> Mapping[str, float]:
    return {
        "new": seen.proposed,
        "accepted": seen.accepted,
        "withdrawn": seen.withdrawn,
        "refused": seen.refused,
    }
