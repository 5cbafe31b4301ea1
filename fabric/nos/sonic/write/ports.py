"""What SONiC calls the ports of a switch, and the rows of each: lanes, SKU, breakout, neighbors.

Lanes, aliases, SKU and breakout words are facts of the board (`SonicPlatform`); nothing here guesses them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from fabric.hardware.catalog.models import SonicPlatform, SwitchModel, lane_list
from fabric.model.plan import CORE, LEAF, SPINE
from fabric.nos.target import description, far_end, pam4

if TYPE_CHECKING:
    from fabric.model.plan import Lossless, Marking, Port, PortRef, Qos, SwitchView


# --- Ports ----------------------------------------------------------------------------------------------------

Table: TypeAlias = dict[str, dict[str, Any]]
Tables: TypeAlias = dict[str, Table]

# SONiC counts tiers from the servers up: T0, T1, T2. It also seeds the ECMP hash by this word, a seed per tier.
TYPES = {LEAF: "ToRRouter", SPINE: "LeafRouter", CORE: "SpineRouter"}
INTERFACE_NAME = 15  # characters of an interface name in Linux
VRF = "Vrf-{}"
VRF_NAME_LIMIT = INTERFACE_NAME - len(VRF.format(""))  # a VRF is one

# The default first. Features of master in August 2026 that 202605 lacks (anycast gateways, Ethernet segments, gNMI in a VRF)
# are expected in the next branch.
RELEASES = ("master", "202605", "202511")
NEXT_BRANCH = 202611


def platform(model: SwitchModel, catalog_name: str) -> SonicPlatform | None:
    """The board's facts: the model's own, else those filed under its catalog name."""
    if model.sonic is not None:
        return model.sonic
    from fabric.hardware.catalog import sonic_platform  # late: most runs never need the port maps

    found: SonicPlatform | None = sonic_platform(catalog_name)
    return found


def board_of(model: SwitchModel, catalog_name: str) -> SonicPlatform:
    board = platform(model, catalog_name)
    if board is None or len(board.lanes) < model.cages:
        raise ValueError(refuses(model, catalog_name))
    return board


def refuses(model: SwitchModel, catalog_name: str) -> str | None:
    board = platform(model, catalog_name)
    if board is None:
        return "no SONiC port map is known of this switch: give it `sonic: {platform, hwsku, lanes}` in the catalog"
    if len(board.lanes) < model.cages:
        return f"its SONiC port map has {len(board.lanes)} cages, the switch has {model.cages}"
    return None


@lru_cache(maxsize=64)
def _cages(lanes: tuple[str, ...]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Per cage the number in its name and its lanes. The numbers count lanes from the left of the front panel
    on; the lanes themselves are the board's wiring and follow no rule."""
    cages, number = [], 0
    for text in lanes:
        own = lane_list(text)
        cages.append((number, own))
        number += len(own)
    return tuple(cages)


def port_name(model: SwitchModel, ref: PortRef, catalog_name: str = "") -> str:
    return named(board_of(model, catalog_name), ref)


def named(board: SonicPlatform, ref: PortRef) -> str:
    number, lanes = _lanes(board, ref)
    return f"Ethernet{number + ref.sub * len(lanes) // ref.split}"


def _lanes(board: SonicPlatform, ref: PortRef) -> tuple[int, tuple[int, ...]]:
    """Number in the name of a port's cage, and the lanes that its split takes."""
    number, lanes = _cages(board.lanes)[ref.cage - 1]
    return number, lanes[: board.used_lanes.get(_split(ref), len(lanes))]


def _split(ref: PortRef) -> str:
    return f"{ref.split}x{ref.speed_gbps}"


def port_row(view: SwitchView, board: SonicPlatform, port: Port) -> dict[str, str]:
    ref = port.ref
    lanes = _lanes(board, ref)[1]
    width = len(lanes) // ref.split
    if width == 0:
        raise ValueError(f"{view.device.name}: cage {ref.cage} has {len(lanes)} lanes and cannot be {ref.split} ports")
    port_lanes = lanes[ref.sub * width : (ref.sub + 1) * width]
    row = {
        "alias": alias(board, ref, width),
        "index": str(ref.cage),
        "lanes": ",".join(map(str, port_lanes)),
        "speed": str(ref.speed_gbps * 1000),
        "mtu": str(port_mtu(view, port)),
        "admin_status": "up" if port.up else "down",
        "description": description(view, port),
    }
    if ref.split > 1:  # subport of the optical module; without it every subport uses the first lanes
        row["subport"] = str(ref.sub + 1)
    if pam4(ref.speed_gbps, width):
        row["fec"] = "rs"
    return row


def port_mtu(view: SwitchView, port: Port) -> int:
    """A tenant's packets must fit a fabric link together with their VXLAN header."""
    # Subinterfaces have the MTU of their port.
    tenants = bool(port.vrf) or port.bridged or bool(port.lag) or bool(port.subinterfaces)
    return view.overlay.mtu if view.overlay and tenants and port.kind != "fabric" else view.underlay.mtu


def is_older(view: SwitchView) -> bool:
    """Whether the switch runs a branch cut before the models that RELEASES speaks of."""
    branch = view.release[:6]
    return branch.isdigit() and int(branch) < NEXT_BRANCH


def subinterface_name(port: str, tag: int) -> str:
    """`Ethernet0.11`; `Eth508.1011` where the long form has no room among Linux's 15 characters."""
    long = f"{port}.{tag}"
    return long if len(long) <= INTERFACE_NAME else long.replace("Ethernet", "Eth", 1)


def alias(board: SonicPlatform, ref: PortRef, width: int) -> str:
    """The front-panel name as the board's SKU spells it."""
    whole = board.alias.format(cage=ref.cage)
    if ref.split == 1:
        return whole
    letter = chr(ord("a") + ref.sub)
    return board.split_alias.format(alias=whole, cage=ref.cage, letter=letter, sub=ref.sub + 1, lane=ref.sub * width + 1)


def port_alias(model: SwitchModel, ref: PortRef, catalog_name: str) -> str:
    """What the switch sends to its neighbors in place of the port's name."""
    board = board_of(model, catalog_name)
    return alias(board, ref, max(1, len(_lanes(board, ref)[1]) // ref.split))


def hwsku(view: SwitchView, board: SonicPlatform) -> str:
    """The SKU whose default ports come closest: by how the fast cages are split."""
    fast = max(group.speed_gbps for group in view.model.ports)
    mix = {_split(port.ref) for port in view.ports if view.model.group_of(port.ref.cage).speed_gbps == fast}
    key = mix.pop() if len(mix) == 1 else "default"
    return board.hwsku.get(key) or board.hwsku.get("default") or next(iter(board.hwsku.values()))


def port_tables(view: SwitchView, board: SonicPlatform, names: list[str]) -> Tables:
    ports = {own: port_row(view, board, port) for own, port in zip(names, view.ports, strict=True)}
    breakout = {}
    for own, port in zip(names, view.ports, strict=True):
        mode = board.modes.get(_split(port.ref))
        if port.ref.sub == 0 and mode is not None:  # an unknown mode would fight platform.json
            breakout[own] = {"brkout_mode": mode}
    return {"PORT": ports, "BREAKOUT_CFG": breakout}


def neighbor_tables(view: SwitchView, names: list[str]) -> Tables:
    """What LLDP and the cabling check compare with."""
    neighbors: Table = {}
    metadata: Table = {}
    for name, port in zip(names, view.ports, strict=True):
        if port.peer is None:
            continue
        neighbors[name] = {"name": port.peer.device.name, "port": far_end(port.peer)}
        if port.peer.device.role in TYPES:
            metadata[port.peer.device.name] = {"type": TYPES[port.peer.device.role]}
    return {"DEVICE_NEIGHBOR": neighbors, "DEVICE_NEIGHBOR_METADATA": metadata}


# --- The lossless class: maps, schedulers, ECN profiles and watchdog, one number for all of them --------------

ROCE, STORAGE, BEST_EFFORT, CNP = "ROCE", "STORAGE", "BEST-EFFORT", "CNP"
NUMBERS = range(8)
PORTS_PER_STEP = 32  # the watchdog polls each port less often on a switch with more ports
MAX_POLL_MS, MAX_DETECT_MS, MAX_RESTORE_MS = 1000, 5000, 60_000


def qos_tables(view: SwitchView, names: list[str], *, pfc_to_group: bool) -> Tables:
    """Empty without a lossless class. `pfc_to_group`: the chip takes a map from PFC priorities to groups."""
    qos = view.qos
    if qos is None:
        return {}
    tables = map_tables(qos, pfc_to_group=pfc_to_group)
    tables["SCHEDULER"] = {
        ROCE: {"type": "DWRR", "weight": str(qos.lossless_percent)},
        BEST_EFFORT: {"type": "DWRR", "weight": str(qos.lossy_percent)},
        CNP: {"type": "STRICT"},
    }
    if qos.storage:
        tables["SCHEDULER"][STORAGE] = {"type": "DWRR", "weight": str(qos.storage.percent)}
    profiles = marking_names(view)
    tables["WRED_PROFILE"] = {name: wred_row(marking) for marking, name in profiles.items()}
    tables["PORT_QOS_MAP"] = port_maps(view, qos, names, pfc_to_group=pfc_to_group)
    tables["QUEUE"] = queues(view, qos, names, profiles)
    tables["PFC_WD"] = watchdog(view, qos, names)
    return tables


def map_tables(qos: Qos, *, pfc_to_group: bool) -> Tables:
    same = {str(n): str(n) for n in NUMBERS}
    classes = {qos.dscp: str(qos.priority), qos.cnp_dscp: str(qos.cnp_priority)}
    if qos.storage:
        classes[qos.storage.dscp] = str(qos.storage.priority)
    tables: Tables = {
        "DSCP_TO_TC_MAP": {
            ROCE: {str(dscp): classes.get(dscp, "0") for dscp in range(64)},
            BEST_EFFORT: {str(dscp): "0" for dscp in range(64)},
        },
        "TC_TO_QUEUE_MAP": {ROCE: same},
        "TC_TO_PRIORITY_GROUP_MAP": {ROCE: {str(n): str(n if n in qos.paused else 0) for n in NUMBERS}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {ROCE: same},
    }
    if pfc_to_group:
        tables["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"] = {ROCE: {str(n): str(n) for n in qos.paused}}
    return tables


def port_maps(view: SwitchView, qos: Qos, names: list[str], *, pfc_to_group: bool) -> Table:
    trusted = {"dscp_to_tc_map": ROCE, "tc_to_queue_map": ROCE, "tc_to_pg_map": ROCE}

    def lossless(port: Lossless) -> dict[str, str]:
        priorities = ",".join(map(str, sorted(qos.of(port))))
        return {
            **trusted,
            "pfc_to_queue_map": ROCE,
            **({"pfc_to_pg_map": ROCE} if pfc_to_group else {}),
            "pfc_enable": priorities,
            **({"pfcwd_sw_enable": priorities} if qos.watchdog else {}),
        }

    lossy = {"dscp_to_tc_map": BEST_EFFORT, "tc_to_queue_map": ROCE, "tc_to_pg_map": ROCE}
    rows: Table = {"global": {"dscp_to_tc_map": ROCE}}
    for name, port in zip(names, view.ports, strict=True):
        rows[name] = lossless(port.lossless) if port.lossless else dict(trusted if port.trusted else lossy)
    return rows


def queues(view: SwitchView, qos: Qos, names: list[str], profiles: dict[Marking, str]) -> Table:
    """A queue for each class on every cabled port; traffic of the class may leave through a port that does not pause."""
    rows: Table = {}
    for name, port in zip(names, view.ports, strict=True):
        if port.peer is None:
            continue
        marked = {"wred_profile": profiles[port.lossless.marking]} if port.lossless else {}
        of = {
            0: {"scheduler": BEST_EFFORT},
            qos.cnp_priority: {"scheduler": CNP},
            qos.priority: {"scheduler": ROCE, **marked},
        }
        if qos.storage:
            of[qos.storage.priority] = {"scheduler": STORAGE, **(marked if qos.storage.lossless else {})}
        rows |= {f"{name}|{queue}": of[queue] for queue in sorted(of)}
    return rows


def marking_names(view: SwitchView) -> dict[Marking, str]:
    """A profile per distinct marking, called by the speeds that have it where there are several."""
    speeds: dict[Marking, set[int]] = {}
    for port in view.ports:
        if port.lossless:
            speeds.setdefault(port.lossless.marking, set()).add(port.ref.speed_gbps)
    if len(speeds) == 1:
        return dict.fromkeys(speeds, ROCE)
    names: dict[Marking, str] = {}
    for marking, rates in speeds.items():
        name = "-".join([ROCE, *(f"{speed}G" for speed in sorted(rates))])
        names[marking] = name if name not in names.values() else f"{name}-{len(names) + 1}"
    return names


def wred_row(marking: Marking) -> dict[str, str]:
    """ECN for what understands it. The colours are alike: nothing here marks packets yellow or red."""
    row = {"ecn": "ecn_all"}
    for colour in ("green", "yellow", "red"):
        row |= {
            f"wred_{colour}_enable": "true",
            f"{colour}_min_threshold": str(marking.kmin_bytes),
            f"{colour}_max_threshold": str(marking.kmax_bytes),
            f"{colour}_drop_probability": str(marking.pmax_percent),
        }
    return row


def watchdog(view: SwitchView, qos: Qos, names: list[str]) -> Table:
    """As `pfcwd start_default` scales it: one round polls all ports, and many ports take longer."""
    times = qos.watchdog
    ports = [name for name, port in zip(names, view.ports, strict=True) if port.lossless]
    if times is None or not ports:
        return {}
    scale = max(1, (len(view.ports) - 1) // PORTS_PER_STEP + 1)
    poll = min(times.poll_ms * scale, MAX_POLL_MS)
    row = {
        "action": "drop",
        "detection_time": str(min(max(times.detect_ms * scale, poll), MAX_DETECT_MS)),
        "restoration_time": str(min(max(times.restore_ms * scale, poll), MAX_RESTORE_MS)),
    }
    return {"GLOBAL": {"POLL_INTERVAL": str(poll)}} | {name: dict(row) for name in ports}
