"""The settings of discovery: families and formats by name, checked against those that there are.

Place: a section of `gateway.config.settings`, of which it knows nothing.
"""

from typing import Annotated

from pydantic import AfterValidator, Field

from adapters.families import FORMATS
from adapters.recipes.book import RECIPE_NAMES
from adapters.values.topic_filter import TopicFilter
from gateway.config.values import ONE_AS_LIST, Count, Section

ANNOUNCERS = tuple(sorted(name for name, form in FORMATS.items() if form.announcements))
"""The families that publish something about themselves."""


def _announcer(name: str) -> str:
    if name not in ANNOUNCERS:
        raise ValueError(f"use families that announce themselves: {', '.join(ANNOUNCERS)}")
    return name


def _family(name: str) -> str:
    if name not in FORMATS and name not in RECIPE_NAMES:
        raise ValueError(f"use families or formats: {', '.join((*FORMATS, *RECIPE_NAMES))}")
    return name


def _filter(text: str) -> str:
    return TopicFilter.parse(text).text


Announcer = Annotated[str, AfterValidator(_announcer)]
Family = Annotated[str, AfterValidator(_family)]
Filter = Annotated[str, AfterValidator(_filter)]


class DiscoverySettings(Section):
    """Devices that announce themselves, and topics that no mapping knows (docs/mappings.md).

    `families` are those whose announcements are heard, `auto_accept` the families, recipes and
    formats whose proposals become mappings without a person. `collect` are topic filters whose
    unknown topics are listed, at an external broker; the embedded one hears everything. Of unknown
    topics at most `topics` are kept, in `topic_bytes`.
    """

    families: Annotated[tuple[Announcer, ...], ONE_AS_LIST] = ANNOUNCERS
    auto_accept: Annotated[tuple[Family, ...], ONE_AS_LIST] = ()
    collect: Annotated[tuple[Filter, ...], ONE_AS_LIST] = ()
    topics: Count = 1_000
    topic_bytes: Annotated[int, Field(ge=4096)] = 2_097_152
