"""The files of the host side, below the site's folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fabric.configs.hosts.bmc import bmc_csv
from fabric.configs.hosts.facts import FactsOf, facts_of
from fabric.configs.hosts.groups import Group, Groups
from fabric.configs.hosts.nccl import nccl_context
from fabric.configs.hosts.netplan import netplan_text
from fabric.configs.hosts.roce import roce_context
from fabric.configs.hosts.view import ETHERNET, hosts, sides
from fabric.configs.render import environment, refuse_control
from fabric.model.plan import Plan

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
    seen = sides(plan, facts_of)
    groups, touched = Groups(seen), set[str]()
    for host in hosts(seen):
        groups.add(host)
        if selected(host.name):
            touched.add(host.group)
            if not any(nic.kind == ETHERNET for nic in host.nics):
                continue  # InfiniBand alone: the subnet manager numbers its ports
            yield f"hosts/{host.name}/60-fabric.yaml", netplan_text(host).encode()
    for group in groups.of(touched):
        yield from _shared(plan.site, group)
    for side in seen:
        if text := bmc_csv(side, selected):
            yield f"{SHARED}/{side.fabric.name}.bmc.csv", text.encode()


def _shared(site: str, group: Group) -> Iterator[tuple[str, bytes]]:
    for kind, context in (("roce.sh", roce_context(site, group)), ("nccl.env", nccl_context(site, group))):
        if context is not None:
            path = f"{SHARED}/{group.name}.{kind}"
            refuse_control(context, path)
            yield path, environment().get_template(f"hosts/{kind}.j2").render(context).encode()
