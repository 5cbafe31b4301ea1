"""The files of the host side, below the site's folder: netplan, RoCE, NCCL, and the BMCs with their planned addresses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from fabric.base.formats import csv_text
from fabric.configs.hosts.facts import FactsOf, ServerLink, facts_of, server_links
from fabric.configs.hosts.nccl import Group, Groups, nccl_context
from fabric.configs.hosts.netplan import netplan_text
from fabric.configs.hosts.view import BMC, CONTROLLER, ETHERNET, HostFabric, hosts, sides
from fabric.configs.render import environment, refuse_control
from fabric.model.plan import FabricPlan, Plan, PortRef, Qos
from fabric.nos.target import target

# --- BMCs, for a DHCP server or for manual setup --------------------------------------------------------------

COLUMNS = ("server", "nic", "leaf", "port", "vlan", "tagged", "address", "gateway", "mac")
Row = tuple[str | int, ...]


def bmc_csv(side: HostFabric, selected: Callable[[str], bool]) -> str:
    """Every controller, one line per network; "" where no wanted server has one here. The MAC is the owner's to fill in."""
    if not any(use.nics == BMC for group in side.groups.values() for use in group.uses):
        return ""
    rows = list(_rows(side))
    if not any(selected(str(row[0])) for row in rows):
        return ""
    return csv_text(COLUMNS, rows)


def _rows(side: HostFabric) -> Iterator[Row]:
    devices = side.fabric.devices
    for link in server_links(side.fabric):
        server = devices[link.server]
        if side.kind(server.group, link.nic) != CONTROLLER:
            continue
        label = side.label(server.group, link.nic, link.port)
        where = (server.name, label, devices[link.leaf].name, _leaf_port(side.fabric, link))
        if link.closed:  # shut down on the leaf
            yield (*where, "", "", "", "", "")
            continue
        if link.untagged or not link.tagged:
            vlan_of = (link.untagged, "no") if link.untagged else ("", "")
            yield (*where, *vlan_of, link.address or "", link.gateway or "", "")
        for vlan in link.tagged:
            yield (*where, vlan.tag, "yes", vlan.address or "", vlan.gateway or "", "")


def _leaf_port(fabric: FabricPlan, link: ServerLink) -> str:
    """The leaf's port as its network OS names it."""
    links, leaf = fabric.links, fabric.devices[link.leaf]
    cage, sub, split = (int(column[link.link]) for column in (links.b_cage, links.b_sub, links.b_split))
    return target(leaf.nos).port_name(fabric.spec.leaf.model, PortRef(cage, sub, split, link.speed_gbps), leaf.model)


# --- RoCE: the context of `templates/hosts/roce.sh.j2` --------------------------------------------------------

ECT0 = 0b10  # ECN bits of a sender with ECN, ECT(0)
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
    rest = next(number for number in PRIORITIES if number not in (priority, cnp))  # best effort, usually 0
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
        lossless(side.fabric.name, interfaces, side.facts.mtu, qos)
        for side, _ in group.parts
        if side.fabric.spec.ethernet
        for qos, interfaces in group.lossless(side.fabric.name).items()
    ]
    if not fabrics:
        return None
    return {
        "site": site,
        "group": group.name,
        "model": group.model,
        "fabrics": fabrics,
        "addressed": " ".join(group.addressed),
        "rdma": [("|".join(names), device) for device, names in group.rdma_names.items()],
    }


def sysctl_context(site: str, group: Group) -> dict[str, object] | None:
    """None where switches join the servers."""
    direct = [(side, spec) for side, spec in group.parts if side.fabric.spec.switchless]
    if not direct:
        return None
    return {
        "site": site,
        "group": group.name,
        "model": group.model,
        "relays": any(spec.count > 2 for _, spec in direct),
        "family": 6 if direct[0][0].fabric.subnet_length == 127 else 4,
    }


# --- The files ------------------------------------------------------------------------------------------------

# No server and no group has a name that begins with an underscore.
SHARED = "hosts/_groups"


def everyone(_: str) -> bool:
    """Every server."""
    return True


def host_files(
    plan: Plan, selected: Callable[[str], bool] = everyone, facts_of: FactsOf = facts_of
) -> Iterator[tuple[str, bytes]]:
    """(path, bytes) of every wanted server, then of the groups that have one, then of the fabrics with controllers.

    A group's and a fabric's files are the same whichever of its servers are wanted.
    """
    host_fabrics = sides(plan, facts_of)
    groups, touched = Groups(host_fabrics), set[str]()
    for host in hosts(host_fabrics):
        groups.add(host)
        if selected(host.name):
            touched.add(host.group)
            if not any(nic.kind == ETHERNET for nic in host.nics):
                continue  # InfiniBand only: the subnet manager configures its ports
            yield f"hosts/{host.name}/60-fabric.yaml", netplan_text(host).encode()
    for group in groups.of(touched):
        yield from _shared(plan.site, group)
    for side in host_fabrics:
        if text := bmc_csv(side, selected):
            yield f"{SHARED}/{side.fabric.name}.bmc.csv", text.encode()


def nccl_environments(plan: Plan) -> dict[str, str]:
    """NCCL's environment of each group of servers that trains, as `nccl.env` has it."""
    host_fabrics = sides(plan, facts_of)
    groups, names = Groups(host_fabrics), dict[str, None]()
    for host in hosts(host_fabrics):
        groups.add(host)
        names[host.group] = None
    ending = ".nccl.env"
    files = ((path, text) for group in groups.of(names) for path, text in _shared(plan.site, group) if path.endswith(ending))
    return {path.rpartition("/")[2].removesuffix(ending): text.decode() for path, text in files}


def _shared(site: str, group: Group) -> Iterator[tuple[str, bytes]]:
    contexts = {
        "roce.sh": roce_context(site, group),
        "nccl.env": nccl_context(site, group),
        "sysctl.conf": sysctl_context(site, group),
    }
    for kind, context in contexts.items():
        if context is not None:
            path = f"{SHARED}/{group.name}.{kind}"
            refuse_control(context, path)
            yield path, environment().get_template(f"hosts/{kind}.j2").render(context).encode()
