"""What a gateway keeps, as one thing: put in place before a start, and given away as a backup."""

import logging
from collections.abc import Iterator
from pathlib import Path

import ontologies
from gateway.admin.keeping.backup import Backups, SettingsFiles
from gateway.admin.keeping.replacement import finish
from gateway.app.storage import Storage, store_path
from gateway.config.settings import SHIPPED_PROFILES, Config
from gateway.runtime.forms import Forms
from gateway.store.disk.migration import bring_up

log = logging.getLogger(__name__)

_SHIPPED = {SHIPPED_PROFILES, Path(ontologies.__path__[0])}


def with_its_data(config: Config) -> None:
    """Finish what a restore began, and have the store in the form of this release.

    Before anything of it is opened. Raises StorageError.
    """
    plan = finish(config.gateway.data_dir)
    if plan is not None:
        log.warning("data_replaced", extra={"reason": plan.why})
    store = store_path(config)
    if store is not None:
        bring_up(store, Forms.read().store)


def backups_of(config: Config, storage: Storage, settings: Path | None) -> Backups:
    """Of a gateway that was started by the file `settings`, None for none."""
    lasts = config.store.kind == "disk"
    return Backups(
        config.gateway.data_dir,
        storage.engine.store if lasts else None,
        storage.journal,
        SettingsFiles(settings, tuple(_named(config)) if settings else ()),
    )


def _named(config: Config) -> Iterator[Path]:
    """Files beside the settings that a start reads; those that come with the gateway apart."""
    documents = (*config.jsap.profiles, *config.reasoning.ontologies)
    yield from (path for path in documents if path.parent not in _SHIPPED)
    tls, shipping, mqtt = config.tls, config.shipping, config.mqtt
    named = (
        mqtt.password_file,
        mqtt.ca_file,
        tls.certificate,
        tls.key,
        shipping.token_file,
        shipping.ca_file,
    )
    yield from (Path(name) for name in named if name)
