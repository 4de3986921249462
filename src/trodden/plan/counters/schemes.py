"""All counter placements.

| placement | determines | counts on | BL94 |
|---|---|---|---|
| ``every_block`` | blocks | all blocks | §3, redundant |
| ``every_edge`` | edges | all edges | |
| ``eprof`` | edges | the fewest edges | §3.2, Eprof(Ecnt) |
| ``checked`` | edges | the fewest edges and all edges, compared | |
| ``vprof_by_blocks`` | blocks | the fewest blocks | §3.1, Vprof(Vcnt) |
| ``vprof_by_edges`` | blocks | few edges | §3.3.3, Vprof(Ecnt) |
| ``vprof_by_edges_optimal`` | blocks | the fewest edges | §3.3, by integer programming |

``hoist`` moves the probes of any of them off edges that would have to be split (§6.3).
"""

from __future__ import annotations

from trodden.plan.counters.blocks import every_block, vprof_by_blocks
from trodden.plan.counters.blocks_by_edges import vprof_by_edges
from trodden.plan.counters.edges import checked, eprof, every_edge
from trodden.plan.counters.hoist import hoist
from trodden.plan.counters.ilp import vprof_by_edges_optimal
from trodden.plan.covering import OptimumError

__all__ = [
    "OptimumError",
    "checked",
    "eprof",
    "every_block",
    "every_edge",
    "hoist",
    "vprof_by_blocks",
    "vprof_by_edges",
    "vprof_by_edges_optimal",
]
