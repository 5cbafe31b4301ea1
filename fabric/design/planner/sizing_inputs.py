"""Input of the sizing rule: demands, uplink speeds, and the reasons why an option does not fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from fabric.base.rounding import ceil_div
from fabric.base.text import plural
from fabric.design.planner.hardware import advice, does, finer_uplinks, gbps, how_to_state
from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan import FabricSpec, NoFit, NoSuchSpeed, capacity, leaf_ports
from fabric.model.plan.lock import NOT_WIRED, WiredPods

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class FreePorts:
    """Ports of servers on free ports of leaves, beside those that size them."""

    speed_gbps: int
    ports: int  # of one server
    leaves: int  # that its ports are spread over; an odd one is on each in turn
    leaf_sets: int  # that the servers of a unit are spread over

    def of(self, servers: int) -> int:
        """Ports of a leaf, of so many servers in a unit."""
        return ceil_div(ceil_div(servers, self.leaf_sets) * self.ports, self.leaves)


def beside_ports(
    servers: int, further: Sequence[FreePorts], shared: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """(Gb/s, ports) of a leaf with so many servers that its free cages must have, the fastest first."""
    ports = Counter(dict(shared))
    for its in further:
        ports[its.speed_gbps] += its.of(servers)
    return tuple(sorted(ports.items(), reverse=True))


@dataclass(frozen=True, kw_only=True)
class Demand:
    """The demand of a group of servers, per unit and per leaf."""

    units: int
    leaves: int  # of one unit, in one isolated network
    servers_per_leaf: int
    down: int  # server ports of one leaf, without spare ports
    down_gbps: int
    further: tuple[FreePorts, ...] = ()  # of the same servers
    shared: tuple[tuple[int, int], ...] = ()  # (Gb/s, ports) of a leaf for groups without leaves
    pods_per_unit: int = 1  # pods that the leaves of a unit are spread over, by rails

    @property
    def beside(self) -> tuple[tuple[int, int], ...]:
        """(Gb/s, ports) of a leaf that its free cages must have, the fastest first."""
        return beside_ports(self.servers_per_leaf, self.further, self.shared)

    @property
    def gbps(self) -> int:
        """Bandwidth of the servers on a leaf."""
        return self.down * self.down_gbps + sum(speed * ports for speed, ports in self.beside)

    def pods(self, units: int) -> int:
        """Pods of so many units each."""
        return ceil_div(self.units, units) * self.pods_per_unit

    @property
    def leaves_of_pod(self) -> int:
        """Leaves of a unit in one pod."""
        return self.leaves // self.pods_per_unit


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The finished form of a fabric. All counts are of one isolated network unless stated."""

    tiers: int
    uplinks: tuple[int, ...]  # of one leaf, by group
    uplink_gbps: int
    units_per_pod: int  # 0: a single pod
    pods: int  # over all groups
    spines: int  # of one pod
    spine_uplinks: int = 0
    core_gbps: int = 0
    spines_per_core: int = 1  # of one pod: the spines that share the cores of a group
    cores: int = 0  # of one core group


@dataclass(frozen=True, kw_only=True)
class Misfit:
    """Why an option cannot be built."""

    option: str
    reason: str
    code: str = "FAB134"
    path: KeyPath = ("topology",)  # key of the intent that causes it
    hint: str = ""
    by_default: bool = False  # a default excludes the option, no key of the intent
    requested: int = 0  # a stated number that breaks uniformity, and numbers that do not
    valid: tuple[int, ...] = ()


@dataclass(kw_only=True)
class Options:
    """An intent with its free parameters, and the options that did not fit."""

    spec: FabricSpec
    demands: tuple[Demand, ...]
    spine_total: int | None  # stated number of spines in all
    core_total: int | None
    wired: WiredPods = NOT_WIRED  # of a fabric in service
    misfits: list[Misfit] = field(default_factory=list)

    @property
    def networks(self) -> int:
        return self.spec.networks

    @property
    def native_gbps(self) -> int:
        """The first uplink speed that is tried: the stated one, or the native one."""
        return next(iter(uplink_speeds(self.spec, self.demands, broken_out=False)), 0)


def uplink_speeds(spec: FabricSpec, demands: tuple[Demand, ...], *, broken_out: bool) -> list[int]:
    """Uplink speeds in the order they are tried: native to both ends, then broken out, never below a NIC port."""
    stated = spec.constraints.leaf_uplinks.speed_gbps
    if stated is not None:
        return [stated]
    # Speeds of the fastest cages, whole or broken out; the slow ports of a switch with two kinds are for servers.
    usable = [speed for speed in spec.leaf.model.uplink_speeds if speed in spec.spine.model.uplink_speeds]
    if not broken_out:
        return usable[:1]
    floor = max(demand.down_gbps for demand in demands)
    return usable[:1] + [speed for speed in usable[1:] if speed >= floor]


def common_speeds(options: Options) -> bool:
    """Whether leaf and spine share a speed for uplinks; where not, a misfit names the speeds of both."""
    spec = options.spec
    stated = spec.constraints.leaf_uplinks.speed_gbps
    leaf, spine = spec.leaf.model, spec.spine.model
    if stated is None:
        if uplink_speeds(spec, options.demands, broken_out=False):
            return True
        ends = f"the leaf ({spec.leaf.switch}) does {gbps(leaf.uplink_speeds)}"
        path, shared = spine_switch_path(spec), min(leaf.native_gbps, spine.native_gbps)
    else:
        if stated not in leaf.speeds or stated in spine.speeds:
            return True  # unsupported speeds are reported with the ports
        ends, path, shared = f"the uplinks are stated at {stated}G", ("topology", "leaf", "uplinks", "speed_gbps"), stated
    stating = [text for tier in (spec.leaf, spec.spine) if (text := how_to_state(spec, tier, shared))]
    options.misfits.append(
        Misfit(
            option="leaf-spine links",
            reason=f"expected one speed for both ends of an uplink; {ends}, the spine ({spec.spine.switch}) does "
            f"{gbps(spine.uplink_speeds if stated is None else spine.speeds)}"
            + (f"; {shared}G is not known to the catalog" if stating else ""),
            code="FAB132",
            path=path,
            hint="; ".join(
                (*stating, "choose switches with a common port speed: `fabric catalog NAME` lists the ports of one")
            ),
        )
    )
    return False


def leaf_uplinks(spec: FabricSpec, demand: Demand, speed: int) -> int:
    """u = ceil(down bandwidth / (oversubscription x uplink speed)), or the stated number; none of one tier."""
    if spec.constraints.tiers == 1:
        return 0
    stated = spec.constraints.leaf_uplinks.count
    if stated is not None:
        return stated
    return ceil_div(demand.gbps * spec.leaf_ratio.denominator, spec.leaf_ratio.numerator * speed)


def ratio_kept(spec: FabricSpec, demand: Demand, uplinks: int, speed: int) -> bool:
    """Whether so many uplinks keep the leaf's oversubscription."""
    return demand.gbps * spec.leaf_ratio.denominator <= spec.leaf_ratio.numerator * uplinks * speed


def checked_uplinks(options: Options, speed: int, option: str) -> tuple[int, ...] | None:
    """Uplinks of a leaf of each group at a speed, None when its ports do not suffice."""
    spec = options.spec
    counts = tuple(leaf_uplinks(spec, demand, speed) for demand in options.demands)
    spare = spec.constraints.spare_server_ports
    for demand, uplinks in zip(options.demands, counts, strict=True):
        if not capacity(spec.leaf.model, demand.down_gbps):
            options.misfits.append(
                Misfit(
                    option=option,
                    reason=f"a leaf ({spec.leaf.switch}) needs ports of {demand.down_gbps}G for the NICs, "
                    f"{does(spec.leaf, demand.down_gbps)}",
                    code="FAB132",
                    path=leaf_switch_path(spec),
                    hint=advice(spec, spec.leaf, demand.down_gbps, partial(_leaf_would_do, spec, demand), server_ports=True),
                )
            )
            return None
        try:
            leaf_ports(spec, demand.down, demand.down_gbps, uplinks, speed, beside=demand.beside)
        except NoFit as error:
            code, path, hint = _blame(spec, demand, speed, error)
            down = f"{plural(demand.down + spare, 'port')} down at {demand.down_gbps}G"
            reason = f"a leaf ({spec.leaf.switch}) with {down} and {plural(uplinks, 'uplink')} at {speed}G: {error}"
            options.misfits.append(Misfit(option=option, reason=reason, code=code, path=path, hint=hint))
            return None
        if not _keeps_ratio(options, demand, uplinks, speed, option):
            return None
    return counts


def _blame(spec: FabricSpec, demand: Demand, speed: int, error: NoFit) -> tuple[str, KeyPath, str]:
    """Code, key and hint for a leaf whose ports do not suffice."""
    if not isinstance(error, NoSuchSpeed):
        most = most_servers(spec, demand, speed)
        smaller = f"{plural(most, 'server')} on a leaf would fit" if most else "no unit is small enough"
        return "FAB131", leaf_switch_path(spec), f"{smaller}; or a higher oversubscription, or a larger leaf"
    path = ("topology", "leaf", "uplinks", "speed_gbps")
    hint = how_to_state(spec, spec.leaf, speed) or f"its ports do {gbps(spec.leaf.model.speeds)}"
    return "FAB132", path if spec.stated(*path) else leaf_switch_path(spec), hint


def _leaf_would_do(spec: FabricSpec, demand: Demand, model: SwitchModel) -> bool:
    """Whether another model has the ports of a leaf, with the uplinks that its spines can take."""
    leaf = replace(spec.leaf, model=model)
    alone = spec.stated("topology", "leaf", "switch") or spec.stated("topology", "spine", "switch")
    other = replace(spec, leaf=leaf, spine=spec.spine if alone else replace(spec.spine, model=model))
    speeds = uplink_speeds(other, (demand,), broken_out=True)
    return demand.down_gbps in model.speeds and any(
        leaf_fits(other, demand, demand.servers_per_leaf, speed) for speed in speeds
    )


def most_servers(spec: FabricSpec, demand: Demand, speed: int) -> int:
    """The most servers whose leaf has the ports."""
    low, high = 0, demand.servers_per_leaf - 1
    while low < high:  # bisection: what fits, fits with fewer servers; an intent may state ten million
        middle = (low + high + 1) // 2
        if leaf_fits(spec, demand, middle, speed):
            low = middle
        else:
            high = middle - 1
    return low


def leaf_fits(spec: FabricSpec, demand: Demand, servers: int, speed: int) -> bool:
    """Whether a leaf has the ports for so many servers and their uplinks."""
    less = replace(demand, down=servers * (demand.down // demand.servers_per_leaf), servers_per_leaf=servers)
    try:
        leaf_ports(spec, less.down, less.down_gbps, leaf_uplinks(spec, less, speed), speed, beside=less.beside)
    except NoFit:
        return False
    return True


def _keeps_ratio(options: Options, demand: Demand, uplinks: int, speed: int, option: str) -> bool:
    """Whether stated uplinks keep the ratio. A default ratio applies only if the speed is not stated."""
    spec = options.spec
    if not uplinks or (not spec.stated("topology", "leaf", "oversubscription") and speed == options.native_gbps):
        return True
    if ratio_kept(spec, demand, uplinks, speed):
        return True
    down = demand.gbps
    options.misfits.append(
        Misfit(
            option=option,
            reason=f"{uplinks} uplinks of {speed}G under {down}G of servers make {down / (uplinks * speed):.3g}:1, "
            f"above the {float(spec.leaf_ratio):g}:1 that is asked for",
            code="FAB142",
            path=("topology", "leaf", "uplinks"),
            hint="leave out `oversubscription` or `uplinks`, either one gives the other; or state the uplinks' speed",
        )
    )
    return False


def leaf_switch_path(spec: FabricSpec) -> KeyPath:
    """The key that names the leaf switch."""
    own = ("topology", "leaf", "switch")
    return own if spec.stated(*own) else ("topology", "switch")


def spine_switch_path(spec: FabricSpec) -> KeyPath:
    """The key that names the spine switch, or the one it is taken from."""
    own = ("topology", "spine", "switch")
    return own if spec.stated(*own) else leaf_switch_path(spec)


def larger_hint(spec: FabricSpec) -> str:
    """Hint for a fabric that does not fit: the tiers or switches that would."""
    tiers = spec.constraints.tiers
    larger = "`tiers: 3` or larger spines would fit" if tiers == 2 else "larger switches, or more oversubscription"
    return "; ".join(text for text in (larger, finer_uplinks(spec)) if text)


def divisors_of(number: int) -> list[int]:
    """Divisors of a number, ascending."""
    return [d for d in range(1, number + 1) if number % d == 0]


# --- spines of a plane or pod: what is stated, else the fewest that share the uplinks ------------------------


def pick_spines(
    options: Options, valid: list[int], divisors: list[int], minimum: int, by_default: bool, option: str, *, pods: int
) -> int | None:
    """Spines of one pod: what is stated, else the fewest that fit and keep the minimum."""
    share = pods * options.networks
    if options.spine_total is None:
        enough = [s for s in valid if s >= minimum]
        if enough:
            return enough[0]
        if by_default:
            reason = f"at most {divisors[-1]} spine shares a leaf's uplinks evenly"
            options.misfits.append(Misfit(option=option, reason=reason, by_default=True))
        else:
            options.misfits.append(
                Misfit(
                    option=option,
                    reason=f"spine.min_count: expected at most {max(valid)}, which shares a leaf's uplinks evenly, "
                    f"got {minimum}",
                    code="FAB133",
                    path=("topology", "spine", "min_count"),
                    hint="more uplinks of a leaf, broken out ones for instance, reach more spines",
                )
            )
        return None
    stated = options.spine_total
    if stated % share == 0 and stated // share in valid:
        return stated // share
    each = plural(stated // share, "spine") + (f" of each of {share_words(options, pods)}" if share > 1 else "")
    if stated % share:
        reason = f"spine.count: expected a multiple of {share} ({share_words(options, pods)}), got {stated}"
    elif stated // share in divisors:
        reason = f"spine.count: expected enough ports for the uplinks, got {each}"
    else:
        expected = f"a divisor of the {divisors[-1]} uplinks of a leaf, so that all spines share them"
        reason = f"spine.count: expected {expected}, got {each}"
    options.misfits.append(
        Misfit(
            option=option,
            reason=reason,
            code="FAB133",
            path=("topology", "spine", "count"),
            requested=stated,
            valid=tuple(s * share for s in valid),
        )
    )
    return None


def share_words(options: Options, pods: int) -> str:
    parts = [plural(pods, "pod")] if pods > 1 else []
    if options.networks > 1 or not parts:
        parts.append(plural(options.networks, "isolated network"))
    return " x ".join(parts)
