"""A store in a folder, read without opening it for writing; and why one does not open.

Place: behind `QuadStore.open`, and for `sosa-gateway check`, which must not disturb what it reads.
"""

from pathlib import Path

from pyoxigraph import NamedNode, Quad, Store

from gateway.errors import StorageError
from gateway.runtime.folders import disk_error
from gateway.store.disk.upkeep import read_current


def locks(path: Path) -> list[Path]:
    """The files that are locked while a process has the store in the folder `path` open."""
    return sorted(path.glob("*/LOCK"))


def unopened(path: Path, error: Exception) -> StorageError:
    """Why the store in a folder does not open, by its cause where that can be seen."""
    return disk_error(
        f"the store in {path} does not open",
        path,
        error,
        "its files are damaged: put back a copy of the folder, or move it away and begin anew",
        locks(path),
    )


def stored_quads(path: Path, graphs: tuple[NamedNode, ...]) -> list[Quad]:
    """What graphs of the store in a folder have, [] where there is no store yet.

    Nothing is written, and no lock is taken: nobody may have it open. Raises StorageError.
    """
    try:
        folder = path / str(read_current(path))
        if not folder.is_dir():
            return []
        store = Store.read_only(str(folder))
        return [q for graph in graphs for q in store.quads_for_pattern(None, None, None, graph)]
    except (OSError, RuntimeError) as error:
        raise unopened(path, error) from error
