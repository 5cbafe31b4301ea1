"""Where a job stands: its servers in the order of their ranks, in NVLink domains, and the NIC ports of each domain.

A communicator on some GPUs of each server uses the NICs beside these GPUs only: NCCL takes the nearest NICs of every GPU
(src/graph/topo.cc, ncclTopoGetLocalNet), and PXN reaches those of other GPUs through ranks of the same communicator.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from fabric.base.diagnostics import Place, Report, nearest, show
from fabric.base.rounding import ceil_div
from fabric.base.text import plural
from fabric.hardware.catalog.models import ServerModel
from fabric.model.plan import SERVER, FabricPlan, GroupSpec
from fabric.solver import Floats, Ints, Network
from fabric.solver.measured.platform import nics_beside

GPUS, PLACEMENT, PART = Place("--gpus"), Place("--placement"), Place("--gpus-per-server")
KINDS = ("packed", "spread", "random")
RANDOM = re.compile(r"random(?::([0-9]{1,9}))?")


PER_RAIL = 0  # communicators: one for each NIC of a server


@dataclass(frozen=True)
class ServerPart:
    """GPUs of every server that a job uses."""

    count: int | None = None  # of a communicator, the first ones; None: all, or `ids`
    ids: tuple[int, ...] = ()  # from 0
    communicators: int = 1  # at the same time, on GPUs of the same servers that follow each other; or PER_RAIL

    @property
    def stated(self) -> bool:
        """Whether it is another part than all GPUs in one communicator."""
        return self != ALL

    def sets(self, gpus: int, nics: int, report: Report) -> Ints:
        """GPUs of each communicator on a server of so many, [communicators, GPUs]. Raises InputError."""
        communicators, count = self.communicators, self.count
        if communicators == PER_RAIL:
            communicators = min(gpus, max(nics, 1))
        if communicators > 1 and not self.ids and gpus % communicators == 0:
            count = count or gpus // communicators
        ids = self.ids or tuple(range((gpus if count is None else count) * communicators))
        have = f"a server has {plural(gpus, 'GPU')}, numbered from 0"
        if self.ids and (len(set(ids)) < len(ids) or max(ids) >= gpus):
            hint = "as in CUDA_VISIBLE_DEVICES, such as 0,4"
            report.error("FAB174", Place("--gpu-ids"), f"expected different GPUs below {gpus}, got {_listed(ids)}", hint)
        elif len(ids) > gpus and communicators == 1:
            report.error("FAB174", PART, f"expected at most {gpus} GPUs per server, got {len(ids)}", have)
        elif len(ids) > gpus or len(ids) % communicators or (self.ids and count not in (None, len(ids) // communicators)):
            each = "" if count is None else f" of {plural(count, 'GPU')} each"
            got = f"{plural(communicators, 'communicator')}{each} on {plural(min(len(ids), gpus), 'GPU')}"
            hint = "each communicator has as many GPUs of a server, and no GPU is in two"
            report.error(
                "FAB174", Place("--communicators"), f"expected communicators that share out the GPUs, got {got}", hint
            )
        report.raise_errors()
        return np.array(ids, dtype=np.int64).reshape(communicators, -1)


ALL: ServerPart = ServerPart()


def _listed(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))


@dataclass(frozen=True, kw_only=True)
class Placement:
    """A job on a fabric. Ports that are down in one domain are left out in all: a ring passes every domain."""

    name: str  # as requested
    gpus: int  # of one job
    jobs: int  # equal jobs at the same time, on consecutive servers
    servers: Ints  # devices of all jobs, in the order of the ranks
    server: ServerModel
    model: str  # its name in the catalog
    gpus_per_server: int  # used by the job, or by one of its communicators
    gpu_ids: Ints  # of a server, from 0, [communicators, GPUs of one]; all have the same servers
    domain_servers: int  # of the largest NVLink domain
    ports: Ints  # rows of `net.ports`, [domains of all jobs or communicators, ports of a domain]; a column is a rail
    all_ports: int  # of one domain, including those that are down
    nic_ports: int  # of one NIC
    full: Floats  # servers of every domain over those of a full one; below 1 for a partial last domain
    units: int  # with servers of the job
    others: tuple[str, ...] = ()  # server models with GPUs that the job does not use

    @property
    def domains(self) -> int:
        """NVLink domains of one job or communicator."""
        return len(self.ports) // self.concurrent

    @property
    def communicators(self) -> int:
        """Communicators at the same time on other GPUs of the same servers."""
        return len(self.gpu_ids)

    @property
    def concurrent(self) -> int:
        """Collectives at the same time: of jobs on other servers, or of communicators on other GPUs."""
        return self.jobs * self.communicators

    @property
    def nics_per_server(self) -> int:
        """NICs beside the GPUs of a job or communicator, with those that are down."""
        return self.all_ports // self.domain_servers // self.nic_ports

    @property
    def partial(self) -> bool:
        """Whether a communicator uses some GPUs of a server only."""
        return self.gpus_per_server < self.server.gpus

    @property
    def board_gpus(self) -> int:
        """GPUs that are joined by NVLink, whether they take part or not."""
        return self.domain_servers * self.server.gpus

    @property
    def domain_gpus(self) -> int:
        return min(self.gpus, self.domain_servers * self.gpus_per_server)


def place(
    net: Network,
    gpus: int | None,
    request: str = "packed",
    jobs: int = 1,
    gpus_per_domain: int | None = None,
    part: ServerPart = ALL,
) -> Placement:
    """A job of so many GPUs (default: all of the fabric), or several such jobs, on `packed`, `spread` or
    `random:SEED` servers, or on those that are named, a comma between.

    packed: the first servers, unit after unit. spread: one server of each unit in turn. Servers of a rack-wide NVLink
    domain stay together. Raises InputError: more GPUs than there are, no whole servers, unknown names.

    Args:
        gpus_per_domain: GPUs that a job uses of each NVLink domain, such as 64 of 72; None for all.
        part: GPUs of each server, and communicators at the same time; `gpus` are those of one.
    """
    fabric, report = net.fabric, Report()
    servers, group, others = _candidates(fabric, report)
    model = group.server
    sets = part.sets(model.gpus, group.nic.count, report)
    each = sets.shape[1]
    domain = _domain_servers(model) if gpus is None or gpus >= each else 1
    if part.stated and (jobs > 1 or gpus_per_domain is not None):
        what = "--jobs, which takes other servers" if jobs > 1 else "--gpus-per-domain, which takes whole servers"
        place_ = PART if part.communicators == 1 else Place("--communicators")
        report.fail("FAB174", place_, f"expected no {what}", "use one of the two")
    if gpus_per_domain is not None:
        servers, domain = _part_of_domains(servers, model, gpus_per_domain, report)
    if RANDOM.fullmatch(request) or request in KINDS:
        count = _servers_for(fabric, gpus, jobs, len(servers), each, report)
        if jobs > 1 and count > domain and count % domain:
            hint = f"{count // domain * domain * each} GPUs are whole NVLink domains"
            report.error("FAB174", GPUS, f"expected whole NVLink domains for each of {jobs} jobs, got {count * each}", hint)
        report.raise_errors()
        domain = min(domain, count)
        chosen = _ordered(fabric, servers, domain, request)[: count * jobs]
    else:
        chosen = _named(fabric, servers, request, report)
        if gpus is not None and gpus != len(chosen) * each and not report.errors:
            expected = f"{len(chosen) * each} GPUs, which is what the {plural(len(chosen), 'server')} named have"
            report.error("FAB174", GPUS, f"expected {expected}, got {gpus}", "remove --gpus: the list of servers defines it")
        if jobs > 1:
            report.error(
                "FAB174",
                PLACEMENT,
                f"expected packed, spread or random for {jobs} jobs, got names",
                "use the server names of one job",
            )
        report.raise_errors()
        chosen, domain = _by_domain(servers, chosen, domain, report)
    each = each if gpus is None else min(gpus, each)
    if part.stated and len(chosen) * each < 2:
        report.fail("FAB174", PART, "expected at least 2 GPUs, got 1", "a collective needs two GPUs: use more servers")
    rows, whole_ports = _ports(net, chosen, domain, sets[:, :each] if part.stated else None, group)
    return Placement(
        name=request,
        gpus=len(chosen) // jobs * each,
        jobs=jobs,
        servers=chosen,
        server=model,
        model=group.model,
        gpus_per_server=each,
        gpu_ids=sets[:, :each],
        domain_servers=domain,
        ports=rows,
        all_ports=whole_ports,
        nic_ports=group.nic.ports,
        full=np.tile(_full(len(chosen), domain), len(sets)),
        others=others,
        units=len({fabric.devices[int(index)].unit for index in chosen}),
    )


def _by_domain(servers: Ints, chosen: Ints, domain: int, report: Report) -> tuple[Ints, int]:
    """(named servers, those of one NVLink domain beside each other; how many there are of each domain)"""
    home = np.searchsorted(servers, chosen) // domain  # `servers` ascend
    _, first, count = np.unique(home, return_index=True, return_counts=True)
    if len(np.unique(count)) > 1:
        shown = ", ".join(map(str, count[np.argsort(first)].tolist()[:8]))
        hint = "use the same number of servers of each NVLink domain"
        report.error("FAB174", PLACEMENT, f"expected the same number of servers of each NVLink domain, got {shown}", hint)
        report.raise_errors()
    turn = np.empty(int(home.max()) + 1, dtype=np.int64)
    turn[home[np.sort(first)]] = np.arange(len(first))
    return chosen[np.argsort(turn[home], kind="stable")], int(count[0])


def _full(servers: int, domain: int) -> Floats:
    """Share of a full domain's servers that each domain has."""
    full = np.ones(ceil_div(servers, domain))
    full[-1] = (servers - 1) % domain / domain + 1 / domain
    return full


def _part_of_domains(servers: Ints, model: ServerModel, gpus: int, report: Report) -> tuple[Ints, int]:
    """(servers of a job that uses `gpus` GPUs of each NVLink domain, servers of one domain). Raises InputError."""
    whole = _domain_servers(model)
    if gpus % model.gpus or not model.gpus <= gpus <= whole * model.gpus:
        expected = f"a multiple of {model.gpus} up to {whole * model.gpus}"
        hint = f"an NVLink domain is {plural(whole, 'server')} of {model.gpus} GPUs"
        report.error("FAB174", Place("--gpus-per-domain"), f"expected {expected}, got {gpus}", hint)
    report.raise_errors()
    part = gpus // model.gpus
    return servers[np.arange(len(servers)) % whole < part], part


def _candidates(fabric: FabricPlan, report: Report) -> tuple[Ints, GroupSpec, tuple[str, ...]]:
    """(servers that a job may take, their group, other models with GPUs): a job runs on one kind of server, that with the
    most GPUs here."""
    groups = {group.name: group for group in fabric.spec.groups if group.server.gpus}
    if not groups:
        report.error("FAB174", fabric.spec.at("servers"), f"fabric {fabric.name} has no GPUs", "choose another with --fabric")
        report.raise_errors()
    kinds: dict[tuple[str, int], list[int]] = {}
    for device in fabric.devices:
        if device.role == SERVER and device.group in groups:
            group = groups[device.group]
            kinds.setdefault((group.model, group.server.gpus), []).append(device.index)
    largest = max(kinds, key=lambda kind: (len(kinds[kind]) * kind[1], kind))
    first = next(group for group in groups.values() if group.model == largest[0])
    others = tuple(sorted({model for model, _ in kinds} - {largest[0]}))
    return np.array(kinds[largest], dtype=np.int64), first, others


def _servers_for(fabric: FabricPlan, gpus: int | None, jobs: int, available: int, each: int, report: Report) -> int:
    """Servers of one job that uses so many GPUs of each."""
    if gpus is None:
        if jobs > available:
            message = f"expected at most {available} jobs, one per server, got {jobs}"
            report.error("FAB174", Place("--jobs"), message, f"use `--jobs {available}`, or remove --jobs")
        return max(1, available // jobs)
    free_gpus = available * each
    servers = max(1, gpus // each)
    if gpus > free_gpus or servers * jobs > available:
        got = f"{gpus}" if jobs == 1 else f"{jobs} jobs of {gpus}"
        hint = f"fabric {fabric.name} has {available} servers of {plural(each, 'GPU')} of this model"
        most_gpus = free_gpus if jobs == 1 else f"{available // jobs * each}"
        per_job = "" if jobs == 1 else f" for each of {jobs} jobs"
        report.error("FAB174", GPUS, f"expected at most {most_gpus} GPUs{per_job}, got {got}", hint)
    elif gpus < 2:
        report.error("FAB174", GPUS, f"expected at least 2 GPUs, got {gpus}", "a collective needs two GPUs")
    elif gpus > each and gpus % each:
        below = gpus - gpus % each
        hint = f"{below} or {min(below + each, free_gpus)} GPUs are whole servers of {each}"
        report.error("FAB174", GPUS, f"expected whole servers of {each} GPUs, got {gpus}", hint)
    return servers


def _domain_servers(model: ServerModel) -> int:
    """Servers that share one NVLink domain: 18 trays of four in an NVL72 rack, 1 elsewhere."""
    return max(1, (model.nvlink_domain_gpus or model.gpus) // max(1, model.gpus))


def _ordered(fabric: FabricPlan, servers: Ints, domain: int, request: str) -> Ints:
    """Servers in the order that a job takes them, whole domains at a time."""
    if request == "packed":
        return servers
    blocks = [servers[start : start + domain] for start in range(0, len(servers), domain)]
    if request == "spread":
        units = np.array([fabric.devices[int(block[0])].unit for block in blocks])
        turn = np.zeros(len(blocks), dtype=np.int64)
        for unit in np.unique(units):
            mine = np.flatnonzero(units == unit)
            turn[mine] = np.arange(len(mine))
        order = np.lexsort((units, turn))
    else:
        match = RANDOM.fullmatch(request)
        assert match is not None
        order = np.random.Generator(np.random.PCG64(int(match[1] or 0))).permutation(len(blocks))
    short = np.array([len(block) < domain for block in blocks])
    order = order[np.argsort(short[order], kind="stable")]  # a partial domain comes last
    return np.concatenate([blocks[int(start)] for start in order])


def _named(fabric: FabricPlan, servers: Ints, request: str, report: Report) -> Ints:
    names = [name.strip() for name in request.split(",") if name.strip()]
    if len(names) > 1 and all(name in KINDS or RANDOM.fullmatch(name) for name in names):
        report.error(
            "FAB174", PLACEMENT, f"expected one placement, got {show(request)}", "repeat --placement for each of them"
        )
        return np.empty(0, np.int64)
    server_index = {fabric.devices[int(index)].name: int(index) for index in servers}
    chosen: list[int] = []
    for name in names:
        if name not in server_index:
            near = nearest(name, [*KINDS, *server_index])
            near = near if near.startswith("did") else f"servers are named as {next(iter(server_index))}"
            message = f"expected packed, spread, random:SEED or servers with GPUs, got {show(name)}"
            report.error("FAB174", PLACEMENT, message, near)
        elif server_index[name] in chosen:
            report.error("FAB174", PLACEMENT, f"server {name} is repeated", "list each server once, in rank order")
        else:
            chosen.append(server_index[name])
    if not names:
        report.error("FAB174", PLACEMENT, "expected a placement, got none", "use packed, spread, random:SEED or server names")
    return np.array(chosen, dtype=np.int64)


def _ports(net: Network, servers: Ints, domain: int, sets: Ints | None, group: GroupSpec) -> tuple[Ints, int]:
    """(live ports of every domain, of one communicator after the other, [domains, ports]; ports of one domain when
    nothing is down). A communicator has the ports of the NICs beside its GPUs; `sets` None: of all."""
    order = np.argsort(net.ports.server, kind="stable")
    begin = np.searchsorted(net.ports.server[order], servers, "left")
    end = np.searchsorted(net.ports.server[order], servers, "right")
    width = int((end - begin).min(initial=0 if not len(servers) else 1 << 30))
    blocks = order[begin[:, None] + np.arange(width)]
    domains = ceil_div(len(servers), domain)
    if len(servers) % domain:  # ports of a partial last domain are repeated to the width of the others
        missing = domains * domain - len(servers)
        tail = blocks[(domains - 1) * domain :]
        blocks = np.concatenate([blocks, np.resize(tail, (missing, width))])
    rows = blocks.reshape(domains, domain * width)
    if sets is None:
        return _live(net, rows), domain * width
    nic = np.arange(domain * width) % width // group.nic.ports
    mine = [np.isin(nic, nics_beside(ids, group.server.gpus, width // group.nic.ports)) for ids in sets.tolist()]
    live = [_live(net, rows[:, columns]) for columns in mine]
    least, most = min(part.shape[1] for part in live), max(part.shape[1] for part in live)
    if not least:
        return np.empty((len(sets) * domains, 0), dtype=np.int64), int(mine[0].sum())
    wide = [part[:, np.arange(most) % part.shape[1]] for part in live]  # ports are repeated to the width of the others
    return np.concatenate(wide), int(max(columns.sum() for columns in mine))


def _live(net: Network, rows: Ints) -> Ints:
    """The columns of ports that are up in every domain."""
    alive = net.alive[net.ports.link[rows]].all(axis=0)
    return rows[:, alive]
