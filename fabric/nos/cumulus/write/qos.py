"""Lossless Ethernet in NVUE: the RoCE profile, and what differs from it.

`qos roce` sets the buffers of the chip, which no file should set. Its pools, ETS and ECN depend on the traffic
classes 3 and 6, so another priority is another switch priority in front of the same class: NVIDIA's own way to change it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING

from fabric.nos.cumulus.write.tree import ENABLE, Tree, keys, merged

if TYPE_CHECKING:
    from fabric.model.plan import Marking, Port, Qos, SwitchView

BEST_EFFORT, LOSSLESS, CNP = 0, 3, 6  # traffic classes of the profile
PROFILE = (3, 26, 6, 48)  # priority and DSCP of data, priority and DSCP of notifications
EVEN = 50  # percent of the wire for data and for best effort
POLL_MS = (100, 5000)
NO_PFC, UNTRUSTED = "NO-PFC", "UNTRUSTED"


def qos(view: SwitchView) -> Tree:
    planned, names = view.qos, marking_names(view)
    if planned is None or not names:
        return {}
    tree = merged(
        {"roce": {ENABLE: True, "mode": "lossless"}},
        classes(planned),
        weights(planned),
        flow_control(view, planned),
        marking(names),
    )
    if planned.watchdog:
        poll = min(max(planned.watchdog.poll_ms, POLL_MS[0]), POLL_MS[1])
        # A queue is freed after the first interval without a pause frame: there is no time to state.
        tree["pfc-watchdog"] = {"polling-interval": poll, "robustness": max(1, ceil(planned.watchdog.detect_ms / poll))}
    return {"qos": tree}


def port_qos(view: SwitchView, port: Port, names: Mapping[Marking, str]) -> Tree:
    """What one port takes of it. Profiles are bound to physical ports, members of a bond included."""
    if view.qos is None or not names:
        return {}
    if port.lossless is None:
        return {"qos": {"pfc": {"profile": NO_PFC}, "mapping": {"profile": UNTRUSTED}}}
    tree: Tree = {
        "pfc": {"profile": cable_profile(port)},
        "congestion-control": {"profile": names[port.lossless.marking]},
    }
    if view.qos.watchdog:
        tree["pfc-watchdog"] = {"state": "enable"}
    return {"qos": tree}


def classes(planned: Qos) -> Tree:
    """DSCP to priority to queue, where they are not the profile's.

    Then every DSCP is configured whose block of eight maps to one of the two classes: only the chosen two belong there.
    """
    if (planned.priority, planned.dscp, planned.cnp_priority, planned.cnp_dscp) == PROFILE:
        return {}
    special = {planned.priority, planned.cnp_priority}
    priorities = {code: 0 if code // 8 in special else code // 8 for code in range(64)}
    priorities |= {planned.dscp: planned.priority, planned.cnp_dscp: planned.cnp_priority}
    dscp = {str(code): {"switch-priority": level} for code, level in priorities.items() if level != code // 8}
    was = {3: LOSSLESS, 6: CNP}
    now = {planned.priority: LOSSLESS, planned.cnp_priority: CNP}
    queues = {
        str(level): {"traffic-class": now.get(level, BEST_EFFORT)}
        for level in range(8)
        if now.get(level, BEST_EFFORT) != was.get(level, BEST_EFFORT)
    }
    return {
        "mapping": {"default-global": {"trust": "both", "dscp": dscp}},
        **({"egress-queue-mapping": {"default-global": {"switch-priority": queues}}} if queues else {}),
        "pfc": {"default-global": {"switch-priority": keys([planned.priority])}},
    }


def weights(own: Qos) -> Tree:
    if own.lossless_percent == EVEN:
        return {}
    classes = {
        str(BEST_EFFORT): {"mode": "dwrr", "bw-percent": own.lossy_percent},
        str(LOSSLESS): {"mode": "dwrr", "bw-percent": own.lossless_percent},
        str(CNP): {"mode": "strict"},
    }
    return {"egress-scheduler": {"default-global": {"traffic-class": classes}}}


def cable_profile(port: Port) -> str:
    return f"ROCE-{max(1, port.length_m)}M"


def flow_control(view: SwitchView, own: Qos) -> Tree:
    """A profile per length of cable: the switch works out the headroom of the chip and the speed from it."""
    priority = {"switch-priority": keys([own.priority])}
    on, off = {"rx": "enable", "tx": "enable"}, {"rx": "disable", "tx": "disable"}
    profiles: Tree = {
        cable_profile(port): priority | on | {"cable-length": max(1, port.length_m)}
        for port in view.ports
        if port.up and port.lossless
    }
    if all(port.lossless for port in view.ports if port.up):
        return {"pfc": profiles}
    untrusted = {UNTRUSTED: {"trust": "port", "port-default-sp": 0}}
    return {"pfc": profiles | {NO_PFC: priority | off}, "mapping": untrusted}


def marking_names(view: SwitchView) -> dict[Marking, str]:
    """A profile per set of thresholds: `ROCE` when all ports have the same, else by the speeds that have them."""
    if view.qos is None:
        return {}
    speeds: dict[Marking, set[int]] = {}
    for port in view.ports:
        if port.up and port.lossless:
            speeds.setdefault(port.lossless.marking, set()).add(port.ref.speed_gbps)
    if len(speeds) == 1:
        return dict.fromkeys(speeds, "ROCE")
    names: dict[Marking, str] = {}
    for mark, own in speeds.items():
        name = "-".join(["ROCE", *(f"{speed}G" for speed in sorted(own))])
        names[mark] = name if name not in names.values() else f"{name}-{len(names) + 1}"
    return names


def marking(names: Mapping[Marking, str]) -> Tree:
    """Marks, and never drops; notifications lie in a class of their own, which has no profile."""
    profiles = {
        name: {
            "traffic-class": {
                str(LOSSLESS): {
                    "ecn": "enable",
                    "red": "disable",
                    "min-threshold": mark.kmin_bytes,
                    "max-threshold": mark.kmax_bytes,
                    "probability": max(1, mark.pmax_percent),
                }
            }
        }
        for mark, name in names.items()
    }
    return {"congestion-control": profiles}
