"""Saved queries by HTTP: list, keep, forget; docs/http.md."""

from typing import Annotated, Any, Literal

from fastapi import Depends, Path
from pydantic import Field

from gateway.admin.saved_queries import NAME, Saved, SavedQueries
from gateway.gates.http.dependencies import GateOf, Requires
from gateway.gates.http.json_body import Body, JsonBody
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.security.policy import Capability

PATH = "/saved"

_Saved = Annotated[SavedQueries, Depends(GateOf(SavedQueries))]
_Name = Annotated[str, Path(json_schema_extra={"pattern": f"^{NAME}$"})]


class SavedBody(Body):
    """A query, and what people call it; windows and gateways as a SUBSCRIBE has them."""

    sparql: Annotated[str, Field(min_length=1, max_length=65_536)]
    label: Annotated[str, Field(max_length=200)] = ""
    windows: dict[str, dict[str, Any]] | None = None
    output: Literal["changes", "added", "removed", "whole"] | None = None
    mode: Literal["union", "event", "each"] | None = None
    gateways: Literal["all"] | list[str] | None = None
    absent: Literal["keep", "drop"] | None = None

    @property
    def over(self) -> dict[str, object]:
        """As an entry of a profile has them."""
        return self.model_dump(exclude={"sparql", "label"}, exclude_none=True)


class SavedTold(Answer):
    """A query under its name; with its windows and gateways, where it has some."""

    name: str
    sparql: str
    label: str
    windows: dict[str, Any] | None = None
    output: str | None = None
    mode: str | None = None
    gateways: str | list[str] | None = None
    absent: str | None = None


class SavedListTold(Answer):
    """All of them, by name."""

    saved: list[SavedTold]


reader = JsonRouter()
writer = JsonRouter(Requires(Capability.MAPPINGS))


@reader.get(PATH, "the saved queries", "by name")
async def list_saved(saved: _Saved) -> SavedListTold:
    """Their texts; what they answer is asked with the rights of who asks."""
    return SavedListTold(saved=list(map(_told, await saved.list())))


@writer.put(f"{PATH}/{{name}}", "keep a query", "as it is kept", 409, 500)
async def save(
    name: _Name, saved: _Saved, body: Annotated[SavedBody, Depends(JsonBody(SavedBody))]
) -> SavedTold:
    """In place of one that has this name; rules and clients may name it from now on."""
    kept = Saved(name, body.sparql, body.label, body.over)
    await saved.save(kept)
    return _told(kept)


@writer.silent("DELETE", f"{PATH}/{{name}}", "forget a saved query", "it is gone", 404, 500)
async def forget(name: _Name, saved: _Saved) -> None:
    """Rules that name it are broken from then on, and told of as alarms."""
    await saved.remove(name)


def _told(saved: Saved) -> SavedTold:
    return SavedTold.model_validate(
        {"name": saved.name, "sparql": saved.sparql, "label": saved.label, **saved.over}
    )
