"""Actuators and actuations as data: a command is an UPDATE before it is an MQTT message.

Place on the way of the data: from the graph of actuations to the device, and from the readings of
the device back to that graph. docs/actuators.md tells the whole of it. Source: W3C SOSA/SSN (2017),
section 4.2.7 (actuations); the draft of 2023 for `sosa:relatedObservation`.

    values              what a device is told for a value, and whether a reading says the same
    actuator            an actuator as the graph of mappings has it
    actuators           all of them, learned by a subscription
    requests            requested actuations, as a subscription tells them
    orders              what is wanted of each actuator: the state machine, without I/O
    templates           the UPDATEs that change the status of an actuation
    consumer            sends what is requested, keeps the time, writes how it ended
    confirmation_watch  the readings that may confirm a command
    command_topics      commands by MQTT, one topic for each actuator
    rules               rows of a subscription that become MQTT messages
"""
