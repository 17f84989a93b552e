"""What a person and their sensors do with a device: they claim it, publish, subscribe, ask.

Everything goes over the network and TLS, as the closed settings of a new device have it.
"""

import json
import queue
import ssl
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
from paho.mqtt.client import Client as MqttClient
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.reasoncodes import ReasonCode
from websockets.sync.client import connect

from gateway.journal import read_journal
from tests.deploy.appliance.machine import Machine
from tests.deploy.appliance.steps import PATIENCE_S
from tests.kit.gateways import LOOPBACK, PREFIXES, mapping

CODE = "K7PQM-4XWTD"
FIRST = "urn:sensor:1"
CREDENTIALS = "credentials.json"
"""Beside the card: those of the first client."""
VALUES = (
    PREFIXES
    + "SELECT ?sensor ?value { ?o sosa:madeBySensor ?sensor ; sosa:hasSimpleResult ?value }"
)


class Device:
    """A gateway, by the ports that a machine forwards to it; a context manager."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._tls = ssl.create_default_context()
        # The certificate is for the device's names; what is dialled here is the emulator.
        self._tls.check_hostname = False
        self._tls.verify_mode = ssl.CERT_NONE
        address = f"https://{LOOPBACK}:{machine.ports['http']}"
        # A connection each time: one that rests is closed after seconds, which an emulated machine
        # may take between an answer and the next question.
        limits = httpx.Limits(max_keepalive_connections=0)
        self.http = httpx.Client(
            base_url=address, verify=self._tls, timeout=PATIENCE_S, limits=limits
        )
        self._kept = machine.folder / CREDENTIALS
        self._mapped = machine.folder / "mapped"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.http.close()

    @property
    def credentials(self) -> tuple[str, str]:
        """Name and secret of its first client; kept beside the card."""
        name, secret = json.loads(self._kept.read_text(encoding="utf-8"))
        return name, secret

    @property
    def is_claimed(self) -> bool:
        """Whether we are its first client."""
        return self._kept.exists()

    @property
    def is_mapped(self) -> bool:
        """Whether it knows what readings are."""
        return self._mapped.exists()

    def claim(self, code: str = CODE) -> None:
        """Become its first client."""
        answer = self.http.post("/claim", json={"code": code, "client": "browser"})
        assert answer.status_code in {200, 201}, answer.text
        told = answer.json()
        kept = json.dumps((told["client_id"], told["client_secret"]))
        self._kept.write_text(kept, encoding="utf-8")

    @property
    def token(self) -> str:
        """A new one."""
        form = {"grant_type": "client_credentials"}
        answer = self.http.post("/oauth/token", data=form, auth=self.credentials)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["access_token"])

    def add_mapping(self) -> None:
        """Readings of `home/SENSOR/temperature` become observations."""
        made = mapping("temperature", "home/+/temperature", selector="$.t")
        body = {"add": [made]}
        answer = self.http.post("/mappings/apply", json=body, headers=self._bearer())
        assert answer.status_code == 200, answer.text
        self._mapped.touch()

    def values(self) -> dict[str, str]:
        """The latest value of each sensor, as the store has it."""
        answer = self.http.post("/query", data={"query": VALUES}, headers=self._bearer())
        assert answer.status_code == 200, answer.text
        rows = answer.json()["results"]["bindings"]
        return {row["sensor"]["value"]: row["value"]["value"] for row in rows}

    def alarms(self) -> list[str]:
        """What is wrong, as `/health` says it."""
        told = self.http.get("/health", headers=self._bearer()).json()
        return list(told.get("alarms", []))

    def running_since(self) -> str:
        """Another one after each start of the gateway; "0" while there is none."""
        return self.machine.run("systemctl show -p MainPID --value sosa-gateway").strip()

    def failed_units(self) -> str:
        """Those that systemd calls failed."""
        return self.machine.run("systemctl --failed --plain --no-legend")

    def journalled(self, folder: Path) -> set[int]:
        """Every reading in the journal, read of a copy in a folder that is not there yet."""
        self.machine.copy("/data/sosa-gateway/journal", folder)
        return {int(record.observation.lexical) for record in read_journal(folder)}

    def subscribed(self) -> "Subscription":
        """To the values, by WebSocket."""
        url = f"wss://{LOOPBACK}:{self.machine.ports['websocket']}/subscribe"
        return Subscription(url, self._tls, self._bearer()["Authorization"])

    def publisher(self, credentials: tuple[str, str] | None = None) -> "Publisher":
        """A sensor that publishes with QoS 1, as ourselves where nobody else is named."""
        return Publisher(self.machine.ports["mqtt"], self._tls, credentials or self.credentials)

    def add_sensor(self, name: str, topics: str) -> tuple[str, str]:
        """A client that may publish to these topics: its name and secret."""
        body = {"client_id": name, "kind": "device", "policy": {"publish": [topics]}}
        answer = self.http.post("/clients", json=body, headers=self._bearer())
        assert answer.status_code == 200, answer.text
        return name, str(answer.json()["client_secret"])

    def _bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


class Subscription:
    """Notifications of a query; a context manager."""

    def __init__(self, url: str, tls: ssl.SSLContext, authorization: str) -> None:
        self._socket = connect(url, ssl=tls, open_timeout=PATIENCE_S, proxy=None)
        asked = {"sparql": VALUES, "alias": "values", "authorization": authorization}
        self._socket.send(json.dumps({"subscribe": asked}))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def added(self, timeout_s: float = PATIENCE_S) -> Sequence[tuple[str, str]]:
        """Sensor and value of each row that the next notification adds."""
        told: Any = json.loads(self._socket.recv(timeout=timeout_s))
        assert "notification" in told, told
        rows = told["notification"]["addedResults"]["results"]["bindings"]
        return [(row["sensor"]["value"], row["value"]["value"]) for row in rows]


class Publisher:
    """Counts up, one reading after another; knows which of them were acknowledged."""

    def __init__(self, port: int, tls: ssl.SSLContext, credentials: tuple[str, str]) -> None:
        self.acknowledged: list[int] = []
        self._sent: dict[int, int] = {}
        self._acks: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._connected = threading.Event()
        self._client = MqttClient(CallbackAPIVersion.VERSION2, "sensor")
        self._client.tls_set_context(tls)
        self._client.tls_insecure_set(True)
        self._client.username_pw_set(*credentials)
        self._client.on_connect = self._answered
        self._client.on_publish = lambda _client, _data, mid, *_: self._acks.put(mid)
        self._client.reconnect_delay_set(1, 4)
        # A client that hears nothing for so long hangs up, also while it is being let in.
        self._client.connect(LOOPBACK, port, keepalive=PATIENCE_S)
        self._client.loop_start()

    def __enter__(self) -> Self:
        assert self._connected.wait(PATIENCE_S)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def _answered(
        self, _client: object, _data: object, _flags: object, reason: ReasonCode, *_: object
    ) -> None:
        """A broker may read who is new a second later: refused, we come again."""
        if not reason.is_failure:
            self._connected.set()

    def send(self, number: int, sensor: str = "1") -> None:
        """Without waiting."""
        told = self._client.publish(f"home/{sensor}/temperature", f'{{"t": {number}}}', 1)
        self._sent[told.mid] = number

    def is_acknowledged(self, timeout_s: float = 30) -> bool:
        """Whether one more reading is acknowledged in time."""
        try:
            mid = self._acks.get(timeout=timeout_s)
        except queue.Empty:
            return False
        self.acknowledged.append(self._sent[mid])
        return True
