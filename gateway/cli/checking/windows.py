"""Whether windows over observations will hold more than they may, by what the journal has.

Place: a look of `check`, beside the profiles; the journal is read beside a gateway that runs.
"""

from collections.abc import Iterator, Sequence

from adapters.values.observation import Observation
from gateway.admin.profile_checks import Finding
from gateway.app.storage import journal_path
from gateway.config.settings import Config
from gateway.engine.windowed.over import over_of
from gateway.errors import WindowError
from gateway.journal import Record
from gateway.journal.reading import last_records, segments
from gateway.profiles import Profiles
from gateway.rdf.namespaces import GW
from gateway.windows import Window
from gateway.windows.budget import overfilled

OBSERVATIONS = f"{GW}observations"

_LOOKED_AT = 5000
"""Of the journal, the last so many observations: a second of reading."""

_LEAST_S = 10.0
"""What came in less time says nothing of a rate."""


def window_findings(config: Config, together: Profiles) -> Iterator[Finding]:
    """Ranges of queries that the present rate would overfill."""
    declared = list(_declared(together))
    if not declared:
        return
    try:
        records = last_records(segments(journal_path(config)), _LOOKED_AT)
    except OSError:
        return  # there is no journal yet, or another look tells what is wrong with it
    limits = config.windows.limits()
    for place, iri, window in declared:
        if reason := overfilled(window, _per_second(records, window), limits):
            what_to_do = "give a shorter range, or a greater limit, or overflow: oldest"
            yield Finding(f"{place}: windows: {iri}: range", reason, False, what_to_do)


def _declared(together: Profiles) -> Iterator[tuple[str, str, Window]]:
    for key, template in together.queries.items():
        place = f"{together.places.get(f'queries.{key}', '')}: queries.{key}"
        try:
            windows = over_of(template).windows
        except WindowError:
            continue  # which is told with the profile
        for iri, window in windows:
            if window.stream == OBSERVATIONS and window.range is not None:
                yield place, iri, window


def _per_second(records: Sequence[Record], window: Window) -> float:
    if not records:
        return 0.0
    begin, end = records[0].ingested_at, records[-1].ingested_at
    seconds = (end - begin).total_seconds()
    if seconds < _LEAST_S:
        return 0.0
    return sum(_is_in(each.observation, window) for each in records) / seconds


def _is_in(seen: Observation, window: Window) -> bool:
    """Whether the window is narrowed to others."""
    sensor, property_, feature = seen.stream
    return all(
        not wanted or name in wanted
        for name, wanted in (
            (sensor, window.sensor),
            (property_, window.property),
            (feature, window.feature),
        )
    )
