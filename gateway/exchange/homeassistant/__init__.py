"""What the gateway has, told to Home Assistant: its MQTT discovery, the other way round.

Place on the way of the data: behind ingest and actuation. Streams, actuators and virtual sensors of
the graph become entities, each with one announcement and one retained state; commands come back as
those of actuators (`gateway.actuation.command_topics`). docs/homeassistant.md tells the whole of
it. Source: Home Assistant's documentation of MQTT discovery.

    settings        what is published, and where
    topics          the topics that are ours, and the one on which Home Assistant says that it is up
    units, classes  what a property and its unit are called there
    states          what a value is there
    entity          an announcement as a value
    facts           what the graph says of streams, sensors and devices
    naming          how things are called
    description     from facts and actuators to entities
    virtual_sensors entities from rows of a query
    readings        the newest reading of each stream, from the thread that stores it
    board           what was announced and told, and what is to be sent now
    earlier         what an earlier life had announced
    publisher       follows the graph, and sends
"""
