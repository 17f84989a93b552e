"""The endpoints /backup and /restore put together."""

from collections.abc import Callable
from pathlib import Path

from gateway.admin.keeping.backup import Backups, SettingsFiles
from gateway.app.storage import Storage
from gateway.config.settings import Config
from gateway.gates.admin.keeping import KeepingGate


def keeping_gate(
    config: Config, storage: Storage, settings: Path | None, start_anew: Callable[[], None] | None
) -> KeepingGate:
    """`settings` is the file that the configuration is from; `start_anew` ends the gateway."""
    data = config.gateway.data_dir
    store = storage.engine.store if config.store.kind == "disk" else None
    backups = Backups(data, store, storage.journal, SettingsFiles(settings, config.named_files))
    return KeepingGate(config.gateway.id, data, backups, start_anew)
