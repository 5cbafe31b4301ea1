"""Checks of InfiniBand subnets: credit loops, engines, tenants that serve others."""

from __future__ import annotations

from tests.audit.checks.design.designs import Case, Cases
from tests.configs.infiniband.designs import text

TREE, TENANTS = text("three-tiers"), text("tenants")
AT = "intent.yaml:11:70"
HEAD = "fabric 'backend': subnet 'backend':"


def engine(name: str) -> tuple[str, str]:
    """The edit that states a routing engine."""
    return "topology:", f"infiniband: {{routing: {name}}}, topology:"


CASES: Cases = {
    ("FAB245", "an engine of meshes"): Case(
        TREE,
        engine("dor"),
        [f"{AT}: warning[FAB245]: {HEAD} credit loops of `dor` are not computed: it suits meshes and tori alone"],
    ),
    ("FAB245", "minhop on a tree"): Case(TREE, engine("minhop"), []),
    ("FAB246", "a static engine on three tiers"): Case(
        TREE,
        engine("updn"),
        [
            f"intent.yaml:11:70: note[FAB246]: {HEAD} `updn` spreads three tiers unevenly without adaptive routing: "
            "`fabric capacity` has the loads\n    hint: set `routing: [ftree, updn]`"
        ],
    ),
    ("FAB246", "one switch"): Case(
        text("one-switch"),
        engine("ftree"),
        [
            f"intent.yaml:11:69: warning[FAB246]: {HEAD} expected a fat tree for `ftree`, got fewer than two leaves with "
            "compute ports: minhop would be tried next"
        ],
    ),
    ("FAB246", "two tiers"): Case(text("two-tiers"), engine("updn"), []),
    ("FAB247", "one that serves two"): Case(TENANTS, ("members: limited", "members: full"), []),
    ("FAB247", "served itself"): Case(
        TENANTS,
        ("served_by: [store]", "served_by: [red]"),
        [
            "intent.yaml:15:92: warning[FAB247]: fabric 'backend': tenant 'red': expected to serve others or to be served, "
            "got both: it serves 'blue', and 'store' serves it"
        ],
    ),
}
