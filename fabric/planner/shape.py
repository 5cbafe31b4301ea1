"""The sizing rule: how many tiers, spines, pods and cores. Integers only, no wiring.

The options are tried in the order of the rule, and the first that fits is taken; an option that does not fit leaves a
`Misfit` behind, so that a design that cannot be built says which numbers do not fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from math import gcd

from fabric.diagnostics import plural
from fabric.planner.ports import NoFit, capacity, lay_out
from fabric.planner.spec import FabricSpec

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Demand:
    """What a group of servers asks of the fabric, per unit and per leaf."""

    units: int
    leaves: int  # of one unit, in one isolated network
    servers_per_leaf: int
    down: int  # server ports of one leaf, without spare ports
    down_gbps: int


@dataclass(frozen=True)
class Shape:
    """The finished form of a fabric. All counts are of one isolated network unless they say otherwise."""

    tiers: int
    uplinks: tuple[int, ...]  # of one leaf, by group
    uplink_gbps: int
    units_per_pod: int  # 0: one pod takes them all
    pods: int  # over all groups
    spines: int  # of one pod
    spine_uplinks: int = 0
    core_gbps: int = 0
    cores: int = 0  # of one core group; there are as many groups as spines in a pod


@dataclass(frozen=True)
class Misfit:
    """Why an option cannot be built."""

    option: str
    reason: str
    code: str = "FAB134"
    path: Path = ("topology",)  # the key that is to blame
    hint: str = ""
    soft: bool = False  # only a default stands in the way
    wanted: int = 0  # a stated number that breaks uniformity, and the numbers that would not
    valid: tuple[int, ...] = ()


@dataclass
class Options:
    """What an intent leaves open, and what was tried."""

    spec: FabricSpec
    demands: tuple[Demand, ...]
    spine_total: int | None  # spines stated, over everything
    core_total: int | None
    pod_units: int = 0  # units of the pods that are there, 0 when nothing is
    misfits: list[Misfit] = field(default_factory=list)

    @property
    def networks(self) -> int:
        return self.spec.networks

    @property
    def native_gbps(self) -> int:
        """The first uplink speed that is tried: the stated one, or the native one."""
        return next(iter(uplink_speeds(self.spec, self.demands, broken_out=False)), 0)


def choose(options: Options) -> Shape | None:
    """The first shape of the rule's order that fits; None leaves the reasons in `options.misfits`."""
    spec = options.spec
    if spec.kind == "collapsed":
        return _collapsed(options)
    tiers = spec.intent.topology.tiers
    stated_minimum = spec.intent.topology.spine.min_count
    minima = (stated_minimum,) if stated_minimum else (2, 1)
    for wanted, build in ((2, _two_tiers), (3, _three_tiers)):
        if tiers not in ("auto", wanted) or (wanted == 2 and _many_pods(spec) and tiers == "auto"):
            continue
        for minimum in minima:
            for speed in uplink_speeds(spec, options.demands, broken_out=wanted == 2):
                shape = build(options, speed, minimum, soft=stated_minimum is None and minimum > 1)
                if shape is not None:
                    return shape
    return None


def _many_pods(spec: FabricSpec) -> bool:
    """Whether the intent asks for pods, which only a third tier joins."""
    pods = spec.intent.topology.pods
    return pods is not None and pods.count != 1


def uplink_speeds(spec: FabricSpec, demands: tuple[Demand, ...], *, broken_out: bool) -> list[int]:
    """Uplink speeds in the order they are tried: what both ends do natively, then broken out, never below a NIC port."""
    stated = spec.intent.topology.leaf.uplinks.speed_gbps
    if stated is not None:
        return [stated]
    common = [speed for speed in spec.leaf.model.speeds if speed in spec.spine.model.speeds]
    native = min(spec.leaf.model.native_gbps, spec.spine.model.native_gbps)
    usable = [speed for speed in common if speed <= native]
    if not broken_out:
        return usable[:1]
    floor = max(demand.down_gbps for demand in demands)
    return usable[:1] + [speed for speed in usable[1:] if speed >= floor]


def leaf_uplinks(spec: FabricSpec, demand: Demand, speed: int) -> int:
    """u = ceil(down bandwidth / (oversubscription x uplink speed)), or what the designer states."""
    stated = spec.intent.topology.leaf.uplinks.count
    if stated is not None:
        return stated
    return -(-demand.down * demand.down_gbps * spec.leaf_ratio.denominator // (spec.leaf_ratio.numerator * speed))


def _leaf(options: Options, speed: int, option: str) -> tuple[int, ...] | None:
    """Uplinks of a leaf of each group at a speed, None when its ports do not suffice."""
    spec = options.spec
    counts = tuple(leaf_uplinks(spec, demand, speed) for demand in options.demands)
    spare = spec.intent.topology.leaf.spare_server_ports
    for demand, uplinks in zip(options.demands, counts, strict=True):
        if not capacity(spec.leaf.model, demand.down_gbps):
            options.misfits.append(
                Misfit(
                    option,
                    f"a leaf ({spec.leaf.switch}) needs ports of {demand.down_gbps}G for the NICs, it has "
                    f"{', '.join(f'{s}G' for s in spec.leaf.model.speeds)}",
                    "FAB132",
                    leaf_switch_path(spec),
                    "choose a leaf whose ports do the speed of the NICs",
                )
            )
            return None
        try:
            lay_out(spec.leaf.model, demand.down + spare, demand.down_gbps, uplinks, speed)
        except NoFit as error:
            options.misfits.append(
                Misfit(
                    option,
                    f"a leaf ({spec.leaf.switch}) with {plural(demand.down + spare, 'port')} down at {demand.down_gbps}G and "
                    f"{plural(uplinks, 'uplink')} at {speed}G: {error}",
                    *_blame(spec, speed, str(error)),
                )
            )
            return None
        if not _keeps_ratio(options, demand, uplinks, speed, option):
            return None
    return counts


def _blame(spec: FabricSpec, speed: int, reason: str) -> tuple[str, Path, str]:
    """Code, key and hint for a leaf whose ports do not suffice."""
    if "no cage" not in reason:
        return "FAB131", leaf_switch_path(spec), "a smaller unit, a higher oversubscription or a larger leaf would fit"
    path = ("topology", "leaf", "uplinks", "speed_gbps")
    does = ", ".join(f"{able}G" for able in spec.leaf.model.speeds)
    return "FAB132", path if spec.stated(*path) else leaf_switch_path(spec), f"its ports do {does}"


def _keeps_ratio(options: Options, demand: Demand, uplinks: int, speed: int, option: str) -> bool:
    """Whether stated uplinks keep the ratio. One that is not stated binds only where the speed is ours to choose."""
    spec = options.spec
    if not spec.stated("topology", "leaf", "oversubscription") and speed == options.native_gbps:
        return True
    if ratio_kept(spec, demand, uplinks, speed):
        return True
    down = demand.down * demand.down_gbps
    options.misfits.append(
        Misfit(
            option,
            f"{uplinks} uplinks of {speed}G under {down}G of servers make {down / (uplinks * speed):.3g}:1, "
            f"above the {float(spec.leaf_ratio):g}:1 that is asked for",
            "FAB142",
            ("topology", "leaf", "uplinks"),
            "leave out `oversubscription` or `uplinks`, either one gives the other; or state the uplinks' speed",
        )
    )
    return False


def ratio_kept(spec: FabricSpec, demand: Demand, uplinks: int, speed: int) -> bool:
    """Whether so many uplinks keep the leaf's oversubscription."""
    down = demand.down * demand.down_gbps
    return down * spec.leaf_ratio.denominator <= spec.leaf_ratio.numerator * uplinks * speed


def _two_tiers(options: Options, speed: int, minimum: int, *, soft: bool) -> Shape | None:
    spec = options.spec
    option = f"two tiers with {speed}G uplinks"
    uplinks = _leaf(options, speed, option)
    if uplinks is None:
        return None
    ports = capacity(spec.spine.model, speed)
    links = sum(d.units * d.leaves * u for d, u in zip(options.demands, uplinks, strict=True))
    divisors = _divisors(reduce(gcd, uplinks))
    valid = [s for s in divisors if links <= s * ports]
    if not valid:
        options.misfits.append(
            Misfit(
                option,
                f"{_in_network(options)}{links} uplinks on at most {divisors[-1]} spines ({spec.spine.switch}) of "
                f"{plural(ports, 'port')}: {links} > {divisors[-1] * ports}",
                path=spine_switch_path(spec),
                hint=_larger(spec),
            )
        )
        return None
    spines = _pick(options, valid, divisors, minimum, soft, option, 1)
    if spines is None:
        return None
    return Shape(2, uplinks, speed, 0, 1, spines)


def _pick(
    options: Options, valid: list[int], divisors: list[int], minimum: int, soft: bool, option: str, pods: int
) -> int | None:
    """Spines of one pod: what is stated, else the fewest that fit and keep the minimum."""
    share = pods * options.networks
    if options.spine_total is None:
        enough = [s for s in valid if s >= minimum]
        if enough:
            return enough[0]
        if soft:
            reason = f"at most {divisors[-1]} spine shares a leaf's uplinks evenly"
            options.misfits.append(Misfit(option, reason, soft=True))
        else:
            options.misfits.append(
                Misfit(
                    option,
                    f"spine.min_count: expected at most {max(valid)}, which shares a leaf's uplinks evenly, got {minimum}",
                    "FAB133",
                    ("topology", "spine", "min_count"),
                    "more uplinks of a leaf, broken out ones for instance, reach more spines",
                )
            )
        return None
    stated = options.spine_total
    if stated % share == 0 and stated // share in valid:
        return stated // share
    each = plural(stated // share, "spine") + (f" of each of {_share(options, pods)}" if share > 1 else "")
    if stated % share:
        reason = f"spine.count: expected a multiple of {share} ({_share(options, pods)}), got {stated}"
    elif stated // share in divisors:
        reason = f"spine.count: expected enough ports for the uplinks, got {each}"
    else:
        whole = f"a divisor of the {divisors[-1]} uplinks of a leaf, so that all spines share them"
        reason = f"spine.count: expected {whole}, got {each}"
    options.misfits.append(
        Misfit(option, reason, "FAB133", ("topology", "spine", "count"), wanted=stated, valid=tuple(s * share for s in valid))
    )
    return None


def _share(options: Options, pods: int) -> str:
    parts = [plural(pods, "pod")] if pods > 1 else []
    if options.networks > 1 or not parts:
        parts.append(plural(options.networks, "isolated network"))
    return " x ".join(parts)


def spine_split(spec: FabricSpec, down_gbps: int, up_gbps: int) -> tuple[int, int] | None:
    """Ports (down, up) of a spine of three tiers: as few uplinks as its oversubscription allows, or those stated."""
    stated = spec.intent.topology.spine.uplinks.count
    if stated is not None:
        down = most_down(spec, stated, down_gbps, up_gbps)
        strict = spec.stated("topology", "spine", "oversubscription")
        kept = _spine_ratio_kept(spec, down * down_gbps, stated * up_gbps)
        return (down, stated) if down and (kept or not strict) else None
    low, high = 1, capacity(spec.spine.model, up_gbps)
    while low < high:  # more ports up leave fewer down, so the ratio only falls
        up = (low + high) // 2
        if _spine_ratio_kept(spec, most_down(spec, up, down_gbps, up_gbps) * down_gbps, up * up_gbps):
            high = up
        else:
            low = up + 1
    down = most_down(spec, low, down_gbps, up_gbps)
    return (down, low) if down else None


def _spine_ratio_kept(spec: FabricSpec, down: int, up: int) -> bool:
    return down * spec.spine_ratio.denominator <= spec.spine_ratio.numerator * up


def most_down(spec: FabricSpec, up: int, down_gbps: int, up_gbps: int) -> int:
    """The most ports down that fit on a spine beside its uplinks."""
    low, high = 0, capacity(spec.spine.model, down_gbps)
    while low < high:
        middle = (low + high + 1) // 2
        try:
            lay_out(spec.spine.model, middle, down_gbps, up, up_gbps)
            low = middle
        except NoFit:
            high = middle - 1
    return low


def _three_tiers(options: Options, speed: int, minimum: int, *, soft: bool) -> Shape | None:
    spec = options.spec
    option = f"three tiers with {speed}G uplinks"
    uplinks = _leaf(options, speed, option)
    if uplinks is None:
        return None
    core_gbps = core_speed(spec)
    split = spine_split(spec, speed, core_gbps)
    if split is None:
        options.misfits.append(
            Misfit(
                option,
                f"a spine ({spec.spine.switch}) cannot split its ports into {speed}G down and {core_gbps}G up at "
                f"{float(spec.spine_ratio):g}:1",
                "FAB131",
                spine_switch_path(spec),
            )
        )
        return None
    down, up = split
    divisors = _divisors(reduce(gcd, uplinks))
    heaviest = max(d.leaves * u for d, u in zip(options.demands, uplinks, strict=True))
    best: tuple[int, int, Shape] | None = None
    for units in _pod_sizes(options, option, divisors[-1] * down // heaviest):
        pods = sum(-(-demand.units // units) for demand in options.demands)
        valid = [s for s in divisors if units * heaviest <= s * down]
        if not valid:
            options.misfits.append(
                Misfit(
                    option,
                    f"a pod of {plural(units, 'unit')} has {units * heaviest} uplinks, at most {divisors[-1]} spines of "
                    f"{plural(down, 'port')} down take {divisors[-1] * down}",
                    path=("topology", "pods") if spec.intent.topology.pods else spine_switch_path(spec),
                    hint=_larger(spec),
                )
            )
            continue
        spines = _pick(options, valid, divisors, minimum, soft, option, pods)
        cores = _cores(options, option, pods, spines, up, core_gbps) if spines else None
        if spines is None or cores is None:
            continue
        shape = Shape(3, uplinks, speed, units, pods, spines, up, core_gbps, cores)
        rank = (pods * spines + spines * cores, -units)
        if best is None or rank < best[:2]:
            best = (*rank, shape)
    return best[2] if best else None


def _pod_sizes(options: Options, option: str, most: int) -> Iterator[int]:
    """Units of a pod that are tried: what the intent states, or every size that spines can carry."""
    rule = options.spec.intent.topology.pods
    units = max(demand.units for demand in options.demands)
    if rule is None and options.pod_units:
        yield options.pod_units
    elif rule is None:
        yield from range(1, max(1, min(units, most)) + 1)
    elif rule.units is not None:
        yield rule.units
    elif rule.racks is not None:
        yield from _racks(options, option, rule.racks)
    elif rule.count is not None:
        each = -(-units // rule.count)
        pods = sum(-(-demand.units // each) for demand in options.demands)
        if pods == rule.count:
            yield each
        else:
            counts = {sum(-(-d.units // size) for d in options.demands) for size in range(1, units + 1)}
            options.misfits.append(
                Misfit(
                    option,
                    f"pods.count: expected pods of equal size for {plural(units, 'unit')}, got {rule.count} pods",
                    "FAB133",
                    ("topology", "pods", "count"),
                    wanted=rule.count,
                    valid=tuple(counts),
                )
            )


def _racks(options: Options, option: str, racks: int) -> Iterator[int]:
    spec, group, demand = options.spec, options.spec.groups[0], options.demands[0]
    if spec.kind == "rack":
        per_unit = demand.leaves * spec.networks // spec.leaves_per_nic(group)
    elif group.per_rack and demand.servers_per_leaf % group.per_rack == 0:
        per_unit = demand.servers_per_leaf // group.per_rack
    else:
        per_unit = 0
    if per_unit and racks % per_unit == 0:
        yield racks // per_unit
        return
    whole = f"a multiple of the {per_unit} racks of a unit" if per_unit else "units of whole racks (`per_rack`)"
    options.misfits.append(
        Misfit(
            option,
            f"pods.racks: expected {whole}, got {racks}",
            "FAB133",
            ("topology", "pods", "racks"),
            "state `per_rack` of the servers, or count pods by `units`",
            wanted=racks,
            valid=tuple(n * per_unit for n in (racks // per_unit, racks // per_unit + 1) if n) if per_unit else (),
        )
    )


def _cores(options: Options, option: str, pods: int, spines: int, up: int, speed: int) -> int | None:
    """Cores of one group: what is stated, else the smallest divisor of a spine's uplinks that fits."""
    spec = options.spec
    ports, links, divisors = capacity(spec.core.model, speed), pods * up, _divisors(up)
    valid = [c for c in divisors if links <= c * ports]
    if not valid:
        options.misfits.append(
            Misfit(
                option,
                f"{plural(pods, 'pod')} bring {links} uplinks to a core group, at most {up} cores ({spec.core.switch}) of "
                f"{plural(ports, 'port')} take {up * ports}",
                path=("topology", "core", "switch") if spec.stated("topology", "core", "switch") else ("topology",),
                hint=_larger(spec),
            )
        )
        return None
    if options.core_total is None:
        return valid[0]
    groups = spines * options.networks
    if options.core_total % groups == 0 and options.core_total // groups in valid:
        return options.core_total // groups
    options.misfits.append(
        Misfit(
            option,
            f"core.count: expected cores that share the {up} uplinks of every spine evenly in "
            f"{plural(groups, 'core group')}, got {options.core_total}",
            "FAB133",
            ("topology", "core", "count"),
            wanted=options.core_total,
            valid=tuple(c * groups for c in valid),
        )
    )
    return None


def _collapsed(options: Options) -> Shape | None:
    """A leaf pair: the uplink rule gives the links between the two."""
    spec, demand = options.spec, options.demands[0]
    stated = spec.intent.topology.leaf.uplinks.speed_gbps
    option = "a collapsed pair"
    if demand.units > 1:
        options.misfits.append(
            Misfit(
                option,
                f"a pair carries {demand.servers_per_leaf} servers, {spec.groups[0].planned} are asked for",
                "FAB131",
                ("servers", 0, "count"),
                "a larger leaf, a larger `unit`, or another `kind`",
            )
        )
        return None
    speed = stated or spec.leaf.model.native_gbps
    uplinks = _leaf(options, speed, option)
    return Shape(1, uplinks, speed, 0, 1, 0) if uplinks else None


def core_speed(spec: FabricSpec) -> int:
    """Speed of a spine-core link: what the intent states, else the fastest that both ends do natively."""
    stated = spec.intent.topology.spine.uplinks.speed_gbps
    if stated is not None:
        return stated
    native = min(spec.spine.model.native_gbps, spec.core.model.native_gbps)
    common = [s for s in spec.spine.model.speeds if s in spec.core.model.speeds and s <= native]
    return common[0] if common else native


def leaf_switch_path(spec: FabricSpec) -> Path:
    """The key that names the leaf switch."""
    own = ("topology", "leaf", "switch")
    return own if spec.stated(*own) else ("topology", "switch")


def spine_switch_path(spec: FabricSpec) -> Path:
    """The key that names the spine switch, or the one it is taken from."""
    own = ("topology", "spine", "switch")
    return own if spec.stated(*own) else leaf_switch_path(spec)


def _larger(spec: FabricSpec) -> str:
    tiers = spec.intent.topology.tiers
    return "`tiers: 3` or larger spines would fit" if tiers == 2 else "larger switches, or more oversubscription"


def _in_network(options: Options) -> str:
    return "each isolated network has " if options.networks > 1 else ""


def _divisors(number: int) -> list[int]:
    return [d for d in range(1, number + 1) if number % d == 0]
