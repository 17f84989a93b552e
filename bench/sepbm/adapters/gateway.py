"""`GatewayAdapter`: our gateway as a process, its store on disk, by HTTP and WebSocket.

Place on the way of the data: behind `Adapter`; started by the adapter, and ended.
"""

from contextlib import ExitStack
from pathlib import Path

from bench.readings.service import running_service, service_config
from bench.sepbm.adapters.se_endpoint import SeEndpoint
from bench.sepbm.ontology import write_ontology
from gateway.config.reasoning import ReasoningSettings
from gateway.config.settings import Config

MOST_DERIVED = 5_000_000


class GatewayAdapter(SeEndpoint):
    """The gateway; without `derives` it is one that does not reason, as any other broker."""

    def __init__(self, folder: Path, namespace: str, *, derives: bool = True) -> None:
        self._ends = ExitStack()
        config = gateway_config(folder, namespace, derives=derives)
        self._service = self._ends.enter_context(running_service(config))
        urls = (f"{self._service.http_url}/update", self._service.subscribe_url)
        try:
            super().__init__(*urls, namespace, derives=derives)
        except BaseException:
            self._ends.close()
            raise

    def cpu_s(self) -> float:
        """That of its process."""
        return self._service.child.cpu_s()

    def memory_bytes(self) -> int | None:
        """That of its process."""
        return self._service.child.resident_bytes()

    def close(self) -> None:
        """End the connections, then the process."""
        with self._ends:
            super().close()


def gateway_config(folder: Path, namespace: str, *, derives: bool) -> Config:
    """A gateway with its data below the folder."""
    config = service_config(folder, None)
    if not derives:
        return config
    ontology = folder / "univ-bench.ttl"
    write_ontology(ontology, namespace)
    reasoning = ReasoningSettings(
        graphs=("default",), infer=True, derived=MOST_DERIVED, ontologies=(ontology,)
    )
    return config.model_copy(update={"reasoning": reasoning})
