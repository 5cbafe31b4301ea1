"""The script that sets the ports of a group of servers up for RoCE: its context, printed by `templates/hosts/roce.sh.j2`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fabric.configs.hosts.groups import Group
from fabric.model.plan import Qos

ECT0 = 0b10  # the two ECN bits of a sender that understands ECN
PRIORITIES = range(8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lossless:
    """The lossless class of one fabric, in the words of the tools."""

    fabric: str
    interfaces: str  # "compute1 compute2"
    mtu: int
    priority: int
    dscp: int
    tos: int
    cnp_priority: int
    cnp_dscp: int
    dscp_prio: str  # dcb: "24:0 25:0 26:3 …"
    prio_pfc: str
    prio_tc: str
    tc_tsa: str
    tc_bw: str
    set_dscp: str  # mlnx_qos: "--dscp2prio set,24,0 …"
    pfc_list: str
    prio_tc_list: str
    tsa_list: str
    bw_list: str


def lossless(fabric: str, interfaces: Sequence[str], mtu: int, qos: Qos) -> Lossless:
    """The same classes as on the leaf: traffic class, priority and queue have one number."""
    priority, cnp = qos.priority, qos.cnp_priority
    rest = next(number for number in PRIORITIES if number not in (priority, cnp))  # best effort; 0 but for odd choices
    # Unless configured, adapters take the upper three bits of the DSCP as the priority. DSCPs next to those of the
    # lossless class and of the CNPs must not map to these classes.
    classes = {dscp: rest for dscp in range(64) if dscp >> 3 in (priority, cnp)}
    classes |= {qos.dscp: priority, qos.cnp_dscp: cnp}
    mapped = sorted(classes.items())
    weights = {rest: qos.lossy_percent, priority: qos.lossless_percent}
    groups = [number if number in (priority, cnp) else rest for number in PRIORITIES]
    return Lossless(
        fabric=fabric,
        interfaces=" ".join(interfaces),
        mtu=mtu,
        priority=priority,
        dscp=qos.dscp,
        tos=qos.dscp << 2 | ECT0,
        cnp_priority=cnp,
        cnp_dscp=qos.cnp_dscp,
        dscp_prio=" ".join(f"{dscp}:{number}" for dscp, number in mapped),
        prio_pfc=f"all:off {priority}:on",
        prio_tc=f"all:{rest} {priority}:{priority} {cnp}:{cnp}",
        tc_tsa="all:strict " + " ".join(f"{number}:ets" for number in sorted(weights)),
        tc_bw="all:0 " + " ".join(f"{number}:{weights[number]}" for number in sorted(weights)),
        set_dscp=" ".join(f"--dscp2prio set,{dscp},{number}" for dscp, number in mapped),
        pfc_list=_list(int(number == priority) for number in PRIORITIES),
        prio_tc_list=_list(groups),
        tsa_list=_list("ets" if number in weights else "strict" for number in PRIORITIES),
        bw_list=_list(weights.get(number, 0) for number in PRIORITIES),
    )


def _list(values: Iterable[object]) -> str:
    return ",".join(map(str, values))


def roce_context(site: str, group: Group) -> dict[str, object] | None:
    """None where no fabric of the group has a lossless class."""
    fabrics = [
        lossless(side.fabric.name, group.interfaces(side.fabric.name), side.facts.mtu, side.facts.qos)
        for side, _ in group.parts
        if side.facts.qos is not None and side.fabric.spec.ethernet
    ]
    if not fabrics:
        return None
    return {
        "site": site,
        "group": group.name,
        "model": group.model,
        "fabrics": fabrics,
        "addressed": " ".join(group.addressed),
    }
