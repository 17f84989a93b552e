"""A Home Assistant without its house: its own core and MQTT integration, by its own code.

Run by an interpreter that has the package homeassistant (make interop), never by ours. It connects
to the broker at the port it is given and answers lines of JSON on standard input:

    ["wait", n, s]           until n entities are available, or s seconds are over
    ["states"]               every entity: state, attributes, device and area
    ["call", domain, service, data]    as its user interface does it
    ["log"]                  warnings and errors so far, each once
"""

import asyncio
import json
import logging
import sys
import tempfile
from pathlib import Path
from typing import Any

import homeassistant.core  # noqa: F401 - before the loader, which imports it
from homeassistant import config_entries, core, loader
from homeassistant.components import mqtt
from homeassistant.components.mqtt import const as mqtt_const
from homeassistant.const import __version__
from homeassistant.helpers import (
    area_registry,
    device_registry,
    entity,
    entity_registry,
    issue_registry,
    restore_state,
    translation,
)

_NOT_WANTED = {"camera", "image", "tag"}
"""Platforms that need libraries of pictures, which are not installed."""


class KeptLog(logging.Handler):
    """What is said at WARNING and above."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "homeassistant.helpers.frame":  # about this program, not what it hears
            return
        self.lines.append(self.format(record)[:2000])


def _leave_out_pictures() -> None:
    for module in (mqtt, mqtt_const):
        for name in ("PLATFORMS", "RELOADABLE_PLATFORMS", "ENTITY_PLATFORMS"):
            listed = getattr(module, name, None)
            if listed is not None:
                kept = [p for p in listed if str(getattr(p, "value", p)) not in _NOT_WANTED]
                setattr(module, name, type(listed)(kept))


async def _home(folder: Path) -> core.HomeAssistant:
    """Home Assistant as its bootstrap makes it, as far as MQTT needs it."""
    (folder / "configuration.yaml").write_text("")
    home = core.HomeAssistant(str(folder))
    home.config.skip_pip = True
    loader.async_setup(home)
    home.config_entries = config_entries.ConfigEntries(home, {})
    translation.async_setup(home)
    entity.async_setup(home)
    registries = [area_registry, device_registry, entity_registry, issue_registry]
    for name in ("category_registry", "floor_registry", "label_registry"):
        try:
            registries.append(__import__(f"homeassistant.helpers.{name}", fromlist=[name]))
        except ImportError:  # of newer versions alone
            continue
    for registry in registries:
        loading = registry.async_load(home)
        if loading is not None:
            await loading
    await restore_state.async_load(home)
    await home.config_entries.async_initialize()
    home.config.components.update({"http", "file_upload"})
    home.set_state(core.CoreState.running)
    return home


def _entry(port: int) -> config_entries.ConfigEntry:
    known = {
        "version": 1,
        "minor_version": 1,
        "domain": "mqtt",
        "title": "mqtt",
        "source": "user",
        "data": {"broker": "127.0.0.1", "port": port},
        "options": {},
        "unique_id": None,
        "discovery_keys": {},
        "subentries_data": (),
    }
    code = config_entries.ConfigEntry.__init__.__code__
    taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return config_entries.ConfigEntry(**{k: v for k, v in known.items() if k in taken})


def _states(home: core.HomeAssistant) -> dict[str, dict[str, Any]]:
    entities, devices = entity_registry.async_get(home), device_registry.async_get(home)
    areas = area_registry.async_get(home)
    found: dict[str, dict[str, Any]] = {}
    for state in home.states.async_all():
        entry = entities.async_get(state.entity_id)
        if entry is None:
            continue
        device = devices.async_get(entry.device_id) if entry.device_id else None
        area = areas.async_get_area(device.area_id) if device and device.area_id else None
        found[state.entity_id] = {
            "state": state.state,
            "attributes": json.loads(json.dumps(dict(state.attributes), default=str)),
            "id": entry.unique_id,
            "category": str(entry.entity_category.value) if entry.entity_category else "",
            "device": device.name if device else "",
            "model": (device.model or "") if device else "",
            "area": area.name if area else "",
        }
    return found


async def _wait(home: core.HomeAssistant, count: int, seconds: float) -> int:
    """Looked at again and again: what becomes available is told by no event of its own."""
    end = home.loop.time() + seconds
    while True:
        states = _states(home).values()
        there = len([each for each in states if each["state"] != "unavailable"])
        if (there == count == len(states)) or home.loop.time() > end:
            return there
        await asyncio.sleep(0.1)


async def _answer(home: core.HomeAssistant, kept: KeptLog, asked: list[Any]) -> object:
    match asked:
        case ["wait", count, seconds]:
            return await _wait(home, int(count), float(seconds))
        case ["states"]:
            return _states(home)
        case ["call", domain, service, data]:
            await home.services.async_call(domain, service, data, blocking=True)
            return None
        case ["log"]:
            return kept.lines
    raise ValueError(asked)


def _say(answer: object) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


async def _serve(port: int, folder: Path) -> None:
    kept = KeptLog()
    logging.getLogger().addHandler(kept)
    _leave_out_pictures()
    home = await _home(folder)
    entry = _entry(port)
    await home.config_entries.async_add(entry)
    _say([__version__, str(entry.state.value)])
    while line := await asyncio.to_thread(sys.stdin.readline):
        _say(await _answer(home, kept, json.loads(line)))
    await home.config_entries.async_unload(entry.entry_id)


with tempfile.TemporaryDirectory() as name:
    asyncio.run(_serve(int(sys.argv[1]), Path(name)))
