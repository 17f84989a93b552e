"""The incremental tier: what a Delta changed in the answer of a query beyond plain joins.

    text → translate → Plan ── affected: changed quads → seeds ─┐
                                                                ▼
                 states: before, after ──────────────────────► solve → rows, netted

Nothing of the answer is kept, but for DISTINCT, CONSTRUCT and groups (docs/engine.md, "Tiers").
"""
