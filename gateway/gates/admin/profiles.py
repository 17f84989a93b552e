"""The JSAP profiles by HTTP: which are in force, their queries, and reading their files again.

docs/mappings.md says what a reload does.
"""

from typing import Annotated, Any

from fastapi import Depends

from gateway.admin.profile_reload import ProfileReload
from gateway.admin.saved_queries import SavedQueries
from gateway.gates.http.dependencies import GateOf, Requires
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.security.policy import Capability

PATH = "/profiles"


class ProfilesState(Answer):
    """Their files, since when they are in force, and why newer ones are not."""

    files: list[str]
    loaded_at: str
    error: str


class ProfilesChanges(Answer):
    """Where the files differ from what was in force: ids and IRIs."""

    changed: bool
    updates: list[str]
    queries: list[str]
    mappings: list[str]
    ontologies: list[str]


class ListedQuery(Answer):
    """A query of a profile, with its prefixes; windows and gateways as a SUBSCRIBE has them."""

    name: str
    sparql: str
    windows: dict[str, Any] | None = None
    output: str | None = None
    mode: str | None = None
    gateways: str | list[str] | None = None
    absent: str | None = None


class ListedQueries(Answer):
    """The queries of all listed profiles, by name."""

    queries: list[ListedQuery]


reader = JsonRouter()
operator = JsonRouter(Requires(Capability.OPERATIONS))
mapper = JsonRouter(Requires(Capability.MAPPINGS))

_Profiles = Annotated[ProfileReload, Depends(GateOf(ProfileReload))]
_Saved = Annotated[SavedQueries, Depends(GateOf(SavedQueries))]


@operator.get(PATH, "the JSAP profiles", "as they are in force")
async def show_profiles(profiles: _Profiles) -> ProfilesState:
    """And why they are not as their files."""
    return ProfilesState.model_validate(profiles.state())


@reader.get(f"{PATH}/queries", "the queries of the listed profiles", "by name")
async def list_queries(profiles: _Profiles, saved: _Saved) -> ListedQueries:
    """Their texts; what they answer is asked with the rights of who asks."""
    kept = {each.name for each in await saved.list()}
    in_force = sorted(profiles.profiles.queries.items())
    return ListedQueries(
        queries=[
            ListedQuery.model_validate({"name": name, "sparql": template.text, **template.over})
            for name, template in in_force
            if name not in kept
        ]
    )


@mapper.post(f"{PATH}/reload", "read the JSAP files again", "what has changed", 500)
async def reload_profiles(profiles: _Profiles) -> ProfilesChanges:
    """The answer comes when they are in force."""
    return ProfilesChanges.model_validate(await profiles.reload_now())
