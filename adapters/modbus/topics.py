"""The topics of Modbus: `modbus/DEVICE` for what was read, `modbus/DEVICE/set` for commands.

No broker has them: the gate puts readings into the inbox by itself and takes commands from
actuations alone, so that neither can be sent by whoever may publish.
"""

TOPIC = "modbus"
COMMANDS = "set"


def is_device_topic(topic: str) -> bool:
    """Whether it is the topic of one device.

    >>> is_device_topic("modbus/heatpump"), is_device_topic("modbus/+")
    (True, False)
    """
    first, _, name = topic.partition("/")
    return first == TOPIC and bool(name) and not set("/+#\0") & set(name)


def is_ours(topic: str) -> bool:
    """Whether a topic is one of these, of whatever form."""
    return topic == TOPIC or topic.startswith(f"{TOPIC}/")
