"""The data from before a release was tried: kept while the gateway stands still, put back at need.

    data_dir/kept/<version>/{store,security,tls,federation,saved.jsap,kept.json}

Place: in the folder of data, as its owner. What RocksDB never changes is linked, not copied, so it
costs little room and time. The journal is not in it: no release writes in it before it has passed,
and what was acknowledged later is applied again from there, if it still reaches back so far.
"""

import json
import logging
import os
import shutil
from pathlib import Path

from pyoxigraph import Literal, NamedNode

from gateway.admin.keeping.backup import KEPT
from gateway.admin.keeping.replacement import (
    BEFORE_UPGRADE,
    Plan,
    commit,
    finish,
    prepare,
    put,
)
from gateway.errors import UpgradeError
from gateway.journal.events import Events
from gateway.journal.names import SegmentName
from gateway.journal.record import Position
from gateway.rdf.namespaces import GW, STATE_GRAPH
from gateway.runtime.durable_files import remove_tree, rename_durably, sync_tree
from gateway.store.disk.stored import stored_quads

log = logging.getLogger(__name__)

_FRESH, _TOLD = f"{BEFORE_UPGRADE}.new", "kept.json"
_UNCHANGED = {".sst", ".blob"}
_APPLIED = NamedNode(f"{GW}appliedJournal")


def keep(data: Path, name: str) -> None:
    """Keep what is there now by a name, in the place of what was kept by it before.

    The gateway stands still. Raises OSError, StorageError.
    """
    finish(data)
    fresh = data / _FRESH
    remove_tree(fresh)
    fresh.mkdir(mode=0o700)
    for each in KEPT:
        if (data / each).exists():
            _copy(data / each, fresh / each)
    (fresh / _TOLD).write_text(json.dumps({"applied": _applied(data)}), encoding="ascii")
    sync_tree(fresh)
    (data / BEFORE_UPGRADE).mkdir(exist_ok=True, mode=0o700)
    remove_tree(data / BEFORE_UPGRADE / name)
    rename_durably(fresh, data / BEFORE_UPGRADE / name)


def put_back(data: Path, name: str) -> None:
    """Have what was kept in the place of what is there; the gateway stands still.

    Where nothing is kept, what is there stays: better in a form that a release refuses than gone.
    Killed meanwhile, the gateway's next start goes on with it, or nothing has happened. Raises
    OSError, StorageError.
    """
    kept = data / BEFORE_UPGRADE / name
    if not (kept / _TOLD).exists():
        log.error("nothing_kept", extra={"release": name})
        return
    new = prepare(data)
    for each in KEPT:
        if (kept / each).exists():
            _copy(kept / each, new / each)
    names = put(new, KEPT)
    dropped = tuple(each for each in KEPT if each not in names)
    commit(data, Plan(f"back to the data of {name}", names, dropped))
    finish(data)


def require_all_since(data: Path, name: str) -> None:
    """Raise UpgradeError unless the journal has all that was acknowledged since it was kept."""
    try:
        told = json.loads((data / BEFORE_UPGRADE / name / _TOLD).read_bytes())["applied"]
    except FileNotFoundError as error:
        raise UpgradeError(
            f"{name} cannot read the data as it is, and none of its own is kept",
            f"restore a backup of {name} instead (sosa-gateway restore)",
        ) from error
    applied = Position.parse(told) if told else Position(0, 0)
    gone = Events.read(data / "journal" / "manifest.jsonl").gone
    if any(SegmentName.parse(each).last > applied for each in gone):
        raise UpgradeError(
            f"{name} cannot read the data as it is, and the journal no longer has all readings "
            "since that version: some are shipped and removed",
            "restore a backup instead, or stay with the version in use",
        )


def forget(data: Path, wanted: set[str]) -> None:
    """Remove what is kept by other names. Raises OSError."""
    folder = data / BEFORE_UPGRADE
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name not in wanted:
            remove_tree(path)
    remove_tree(data / _FRESH)


def _applied(data: Path) -> str:
    """The position up to which the store has the journal; "" for none, or a store in memory."""
    found = [
        Position.parse(quad.object.value)
        for quad in stored_quads(data / "store", (STATE_GRAPH,))
        if quad.predicate == _APPLIED and isinstance(quad.object, Literal)
    ]
    return str(max(found)) if found else ""


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        target.mkdir(mode=0o700)
        for each in source.iterdir():
            _copy(each, target / each.name)
    elif source.suffix in _UNCHANGED:
        try:
            os.link(source, target, follow_symlinks=False)
        except PermissionError:  # a file system without hard links
            shutil.copyfile(source, target, follow_symlinks=False)
    elif source.name != "LOCK":
        shutil.copyfile(source, target, follow_symlinks=False)
