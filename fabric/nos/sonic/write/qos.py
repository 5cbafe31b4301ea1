"""The lossless class of a switch as SONiC's maps, schedulers, ECN profiles and watchdog: one number for all of them.

A port without the class gets a map of its own in which nothing reaches the lossless or the strict queue.
"""

from __future__ import annotations

from fabric.model.plan import Marking, Qos, SwitchView
from fabric.nos.sonic.write.ports import Table, Tables

ROCE, BEST_EFFORT, CNP = "ROCE", "BEST-EFFORT", "CNP"
NUMBERS = range(8)
PORTS_PER_STEP = 32  # the watchdog of a switch with more ports looks at each less often
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
    profiles = marking_names(view)
    tables["WRED_PROFILE"] = {name: wred_row(marking) for marking, name in profiles.items()}
    tables["PORT_QOS_MAP"] = port_maps(view, qos, names, pfc_to_group=pfc_to_group)
    tables["QUEUE"] = queues(view, qos, names, profiles)
    tables["PFC_WD"] = watchdog(view, qos, names)
    return tables


def map_tables(qos: Qos, *, pfc_to_group: bool) -> Tables:
    same = {str(n): str(n) for n in NUMBERS}
    classes = {qos.dscp: str(qos.priority), qos.cnp_dscp: str(qos.cnp_priority)}
    tables: Tables = {
        "DSCP_TO_TC_MAP": {
            ROCE: {str(dscp): classes.get(dscp, "0") for dscp in range(64)},
            BEST_EFFORT: {str(dscp): "0" for dscp in range(64)},
        },
        "TC_TO_QUEUE_MAP": {ROCE: same},
        "TC_TO_PRIORITY_GROUP_MAP": {ROCE: {str(n): str(n if n == qos.priority else 0) for n in NUMBERS}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {ROCE: same},
    }
    if pfc_to_group:
        tables["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"] = {ROCE: {str(qos.priority): str(qos.priority)}}
    return tables


def port_maps(view: SwitchView, qos: Qos, names: list[str], *, pfc_to_group: bool) -> Table:
    lossless = {
        "dscp_to_tc_map": ROCE,
        "tc_to_queue_map": ROCE,
        "tc_to_pg_map": ROCE,
        "pfc_to_queue_map": ROCE,
        **({"pfc_to_pg_map": ROCE} if pfc_to_group else {}),
        "pfc_enable": str(qos.priority),
        **({"pfcwd_sw_enable": str(qos.priority)} if qos.watchdog else {}),
    }
    lossy = {"dscp_to_tc_map": BEST_EFFORT, "tc_to_queue_map": ROCE, "tc_to_pg_map": ROCE}
    rows: Table = {"global": {"dscp_to_tc_map": ROCE}}
    for name, port in zip(names, view.ports, strict=True):
        rows[name] = dict(lossless if port.lossless else lossy)
    return rows


def queues(view: SwitchView, qos: Qos, names: list[str], profiles: dict[Marking, str]) -> Table:
    """Three queues of every cabled port; traffic of the class may leave through a port that does not pause."""
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
    for marking, own in speeds.items():
        name = "-".join([ROCE, *(f"{speed}G" for speed in sorted(own))])
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
