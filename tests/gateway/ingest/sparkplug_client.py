"""An edge node of another make, pysparkplug, run by that client's own interpreter.

Usage: sparkplug_client.py PORT. It tells its births and what it is asked on standard output, and
takes the values to send from standard input, one a line.
"""

import sys
import threading
from time import time

from pysparkplug import DataType, Device, EdgeNode, Message, Metric


def metric(name: str, datatype: DataType, value: object, alias: int) -> Metric:
    stamp = int(time() * 1000)
    return Metric(timestamp=stamp, name=name, datatype=datatype, value=value, alias=alias)


def say(word: str) -> None:
    print(word, flush=True)  # noqa: T201


def bear(node: EdgeNode, port: int) -> None:
    """Connect, which sends the births, and say so."""
    never = threading.Event()
    node.connect("127.0.0.1", port=port)
    while not node._connected:
        never.wait(0.01)
    say("born")


def main(port: int) -> None:
    """Births, then a value for each line; births again when the host asks."""
    asked = threading.Event()

    def commanded(_: EdgeNode, message: Message) -> None:
        if any(each.name == "Node Control/Rebirth" for each in message.payload.metrics):
            say("asked for births")
            asked.set()

    level = metric("Level", DataType.INT16, -40, 2)
    node = EdgeNode("plant1", "edge7", (), cmd_callback=commanded)
    node.register(Device("press3", (metric("Temperature", DataType.FLOAT, 0.1, 1), level)))
    bear(node, port)
    for line in sys.stdin:
        if line.strip() == "rebirth":
            asked.wait(20)
            node.disconnect()
            bear(node, port)
            continue
        value = metric("Temperature", DataType.FLOAT, float(line), 1)
        node.update_device("press3", (value,))
        say("sent")
    node.disconnect()


if __name__ == "__main__":
    main(int(sys.argv[1]))
