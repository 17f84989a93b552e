"""Sliding aggregates: groups of what a window has, whatever its range, in time that does not grow.

    triples in and out → star: rows in and out → groups: exact sums, sorted values → members
                           rest: what the store says of them ──┘

A row costs the same however much the window holds, and however many subscribe to the same groups
with other constants in HAVING or an outer FILTER. What is not surely exact here is refused, or
given up at run-time, and served by the tiers that look at window and store alike. Source:
Tangwongsan, Hirzel, Schneider, Wu, General incremental sliding-window aggregation, 2015, section 2
(invertible aggregates are subtracted from); docs/engine.md, "Tiers".
"""
