"""How an engine goes on: who subscribes to what, and one step after another.

    SUBSCRIBE -> Served -> SPU;   UPDATE, elements, time -> Steps -> Outcome

Place: under `Engine`, over the views of the store and of windows.
"""
