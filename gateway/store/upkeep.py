"""Upkeep: what a store that changes for years needs, so that it stays as fast and small as it was.

Oxigraph keeps what was removed: in memory for ever, on disk in RocksDB's write buffers until they
are flushed and compacted. Measured, 100 streams of one observation each: 5 KB of memory a reading,
and a scan of 100 triples goes from 0.1 to 30 ms in 70,000 readings. So after so many removals the
store in memory is written anew, and the one on disk is flushed in a thread beside the writer.
"""

import logging
from concurrent.futures import Future, ThreadPoolExecutor

from pyoxigraph import Store

log = logging.getLogger(__name__)

REMOVALS = 50_000
"""About 3,000 readings: 0.1 s of flushing, some 20 MB of write buffers."""


def rewritten(store: Store) -> Store:
    """A store in memory with the same content, blank nodes' identity included, and no past."""
    fresh = Store()
    fresh.bulk_extend(store)
    for graph in store.named_graphs():
        fresh.add_graph(graph)
    return fresh


class Flusher:
    """Flushes a store on disk from time to time, in a thread of its own."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(1, "flush")
        self._flushing: Future[None] | None = None

    def flush_soon(self) -> None:
        """Begin to flush unless it is going on."""
        if self._flushing is None or self._flushing.done():
            self._flushing = self._thread.submit(self._flush)

    def _flush(self) -> None:
        try:
            self._store.flush()
        except (OSError, RuntimeError) as error:  # what is not flushed now is flushed later
            log.error("store_not_flushed", extra={"reason": str(error)})

    def close(self) -> None:
        """Wait for the flush that is going on, and flush what came since."""
        self._thread.shutdown()
        self._store.flush()
