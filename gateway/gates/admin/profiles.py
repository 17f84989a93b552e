"""The JSAP profiles by HTTP: which are in force, and reading their files again.

docs/mappings.md says what a reload does.
"""

from typing import Annotated

from fastapi import Depends

from gateway.admin.profile_reload import ProfileReload
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


operator = JsonRouter(Requires(Capability.OPERATIONS))
mapper = JsonRouter(Requires(Capability.MAPPINGS))

_Profiles = Annotated[ProfileReload, Depends(GateOf(ProfileReload))]


@operator.get(PATH, "the JSAP profiles", "as they are in force")
async def show_profiles(profiles: _Profiles) -> ProfilesState:
    """And why they are not as their files."""
    return ProfilesState.model_validate(profiles.state())


@mapper.post(f"{PATH}/reload", "read the JSAP files again", "what has changed", 500)
async def reload_profiles(profiles: _Profiles) -> ProfilesChanges:
    """The answer comes when they are in force."""
    return ProfilesChanges.model_validate(await profiles.reload_now())
