"""What is kept: the data folder made ready, the endpoints /backup and /restore put together."""

from collections.abc import Callable
from pathlib import Path

from gateway.admin.keeping.backup import Backups, SettingsFiles
from gateway.admin.keeping.starting import with_its_data
from gateway.app.storage import Storage, store_path
from gateway.config.settings import Config
from gateway.gates.admin.keeping import KeepingGate
from gateway.security.private_files import keep_private


def keeping_gate(
    config: Config, storage: Storage, settings: Path | None, start_anew: Callable[[], None] | None
) -> KeepingGate:
    """`settings` is the file that the configuration is from; `start_anew` ends the gateway."""
    data = config.gateway.data_dir
    store = storage.engine.store if config.store.kind == "disk" else None
    backups = Backups(data, store, storage.journal, SettingsFiles(settings, config.named_files))
    return KeepingGate(config.gateway.id, data, backups, start_anew)


def prepare_data(config: Config) -> None:
    """The data folder before anything is opened: nobody else's, and as a restore has left it."""
    keep_private(config.gateway.data_dir)
    with_its_data(config.gateway.data_dir, store_path(config))
