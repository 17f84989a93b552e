"""The scheduler: the one thread that writes; queues of UPDATEs and SUBSCRIBEs, and timers."""
