"""CTP-automata: thousands of conjunctive queries over one window, each exactly.

    query → canonical form → plans ─┐ (a query more or less)
                                    ▼
    triple → integers → index → tpm: where plans begin → ccr: tries of plans, compiled → rows

TPM is triple pattern matching, CCR conjunctive constraints resolution. Source: Y. Qin, Q. Z. Sheng,
N. J. G. Falkner, A. Shemshadi, E. Curry, Batch Matching of Conjunctive Triple Patterns over Linked
Data Streams in the Internet of Things, 2015, section 2.2.
"""

from gateway.engine.automaton.automaton import Automaton, Explained
from gateway.engine.automaton.query import AutomatonQuery, NotAnAutomatonError, automaton_query

__all__ = ["Automaton", "AutomatonQuery", "Explained", "NotAnAutomatonError", "automaton_query"]
