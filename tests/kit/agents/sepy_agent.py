"""The rules of the test profile by sepy: `python sepy_agent.py PROFILE.json [IDENTITY]`.

Says one JSON object. Runs in sepy's own environment, where nothing of ours is to be had.
"""

import json
import queue
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sepy.SAPObject import SAPObject
from sepy.SEPA import SEPA

WAIT_S = 20


def bindings(answer: Any) -> Any:
    return answer["results"]["bindings"]


def failure(work: Callable[[], object]) -> str:
    try:
        work()
    except Exception as error:
        return type(error).__name__
    return "none"


def main() -> dict[str, Any]:
    sap = SAPObject(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    is_plain = len(sys.argv) == 2
    sepa = SEPA(sapObject=sap, client_id=None if is_plain else sys.argv[2])
    said: dict[str, Any] = {}
    wrong = threading.Thread(target=lambda: said.update(subscribe_wrong=failure(subscribe_wrong)))

    def subscribe_wrong() -> None:
        sepa.subscribe("WRONG", "wrong")

    sepa.update("DELETE_ALL")  # first: only an update registers at the right place
    if is_plain:
        wrong.start()  # sepy finds out by waiting for ten seconds
    said["empty"] = bindings(sepa.query("ALL"))
    told: queue.Queue[Any] = queue.Queue()
    spuid = sepa.subscribe("VAIMEE", "vaimee", handler=lambda *delta: told.put(delta))
    said["spuid"] = spuid
    said["first"] = told.get(timeout=WAIT_S)
    sepa.update("VAIMEE")
    said["second"] = told.get(timeout=WAIT_S)
    sepa.update("DELETE_ALL")
    said["third"] = told.get(timeout=WAIT_S)
    sepa.update("RANDOM", {"random": "0.625"})
    said["random"] = bindings(sepa.query("RANDOM"))
    sepa.update("HUGE")
    said["huge"] = bindings(sepa.query("HUGE"))[0]["value"]["value"]
    said["count"] = bindings(sepa.query("COUNT"))
    said["update_wrong"] = failure(lambda: sepa.update("WRONG"))
    said["query_wrong"] = failure(lambda: sepa.query("WRONG"))
    sepa.unsubscribe(spuid)
    if is_plain:
        wrong.join()
    return said


sys.stdout.write(json.dumps(main()) + "\n")
