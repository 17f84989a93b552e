"""What the reloading of profiles counts."""

from gateway.admin.profile_reload import ProfileReload
from gateway.runtime.measures import Measure


def profile_measures(profiles: ProfileReload) -> tuple[Measure, ...]:
    """Readings of the JSAP files."""
    return (
        Measure(
            "profile_reloads",
            "readings of the JSAP files by outcome",
            lambda: profiles.outcomes,
            label="outcome",
        ),
        Measure(
            "profiles_refused",
            "1 while the JSAP files are not those in force",
            lambda: bool(profiles.error),
            is_counter=False,
        ),
    )
