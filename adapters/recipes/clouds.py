"""Clouds: the device shadow of AWS IoT.

Sources: AWS IoT Core, Developer Guide, Device Shadow MQTT topics, Device Shadow service documents
(topics; what is accepted has `state.reported`; `version` counts, `timestamp` is Unix); AWS IoT
Device SDK, ShadowUpdatedSnapshot (state and version). That the documents topic has such a snapshot
below `current` is general knowledge, not verified.
"""

from collections.abc import Iterator

from adapters.documents.leaves import document_leaves
from adapters.recipes.recipe import WHAT, Found, Recipe, levels_of, members, read_usual, words
from adapters.values.payload import Payload
from adapters.values.result import JsonNumber

MAX_VALUES = 200


def _shadow(payload: Payload) -> Iterator[Found]:
    levels, heard = levels_of(payload), members(payload)
    thing = levels[2] if levels[4] == "update" else f"{levels[2]}/{levels[5]}"
    current = heard.get("current")
    above = "$.current" if isinstance(current, dict) else "$"
    held = current if isinstance(current, dict) else heard
    prefix = f"{above}.state.reported"
    beside = {}
    if isinstance(held.get("version"), JsonNumber):
        beside["sequence_selector"] = f"{above}.version"
    if isinstance(heard.get("timestamp"), JsonNumber):
        beside["time_selector"] = "$.timestamp"
    count = 0
    for leaf in document_leaves(heard):
        if leaf.path.startswith(f"{prefix}.") and count < MAX_VALUES:
            count += 1
            found, _ = read_usual(leaf.keys[-1], leaf.value)
            reading = {"selector": leaf.path, **beside, **words(found.meaning, leaf.value)}
            member = leaf.path.removeprefix(f"{prefix}.")
            yield Found(thing, member, found.meaning, found.unit, WHAT, reading)


RECIPES = (
    Recipe(
        "aws_shadow",
        tuple(
            f"$aws/things/+/shadow/{kind}update/{what}"
            for kind in ("", "name/+/")
            for what in ("accepted", "documents")
        ),
        _shadow,
    ),
)
