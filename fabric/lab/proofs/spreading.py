"""Flows really spread over all equal links, by ports and not by addresses alone, and one flow stays on one link: counted."""

from __future__ import annotations

import math
import socket
from collections.abc import Iterator

from fabric.audit.checks import Finding
from fabric.lab.expected import Endpoint, endpoints, forwarding, originated
from fabric.lab.live import Live
from fabric.lab.machine.observer import as_roce
from fabric.lab.outcome import finding
from fabric.lab.proofs.base import Proof, ProofResult, skip
from fabric.lab.proofs.reach import pairs
from fabric.model.plan import LEAF

PER_LINK = 64  # flows that each link would get of an even spread
SIGMAS = 5.0  # a fair hash misses this once in a million
FIRST_PORT, DISCARD = 12000, 9


def show(live: Live) -> ProofResult:
    """For every leaf with several paths, flows from one of its servers (or itself) to another leaf."""
    chosen = dict(_chosen(live))
    expected = forwarding(live.lab)
    faults: list[Finding] = []
    worst = 1.0
    tried = 0
    for leaf, (node, source, target, home) in chosen.items():
        links = sorted(expected[leaf].get(originated(live.lab.views[home])[0], ()))
        if len(links) < 2:
            continue
        tried += 1
        counts = _send(live, leaf, node, source, target, links, flows=PER_LINK * len(links))
        mean = sum(counts.values()) / len(links)
        worst = max(worst, max(counts.values()) / mean if mean else math.inf)
        if sum(counts.values()) < 0.9 * PER_LINK * len(links):
            faults.append(
                finding(leaf, f"{sum(counts.values())} of {PER_LINK * len(links)} packets towards {home} left over its links")
            )
            continue
        if fault := _uneven(leaf, counts):
            faults.append(fault)
        single = _send(live, leaf, node, source, target, links, flows=1, packets=4 * PER_LINK)
        if len(busy := [link for link, count in single.items() if count >= PER_LINK]) != 1:
            faults.append(finding(leaf, f"one flow went over {len(busy)} links, planned 1"))
    if not tried:
        return skip("no leaf of the lab has two paths to another leaf")
    ratio = f"{worst:.2f} times that" if math.isfinite(worst) else "all of them"
    summary = f"{tried} leaves: {PER_LINK} flows per link on average, at most {ratio} on one link"
    return ProofResult(
        summary, tuple(faults), {"fullest_link_times_mean": round(worst, 2) if math.isfinite(worst) else "none came"}
    )


def _uneven(leaf: str, counts: dict[str, int]) -> Finding | None:
    total, width = sum(counts.values()), len(counts)
    bound = SIGMAS * math.sqrt(total / width * (1 - 1 / width))
    link = min(counts, key=lambda name: counts[name])
    if counts[link] >= total / width - bound:
        return None
    shown = ", ".join(f"{name} {count}" for name, count in counts.items())
    return finding(leaf, f"flows do not spread over {width} links: {shown}")


def _chosen(live: Live) -> Iterator[tuple[str, tuple[str, str, str, str]]]:
    """Leaf → (node that sends, its address, address of the other end, leaf that is behind)."""
    ends = endpoints(live.lab)
    inside: dict[str, tuple[Endpoint, Endpoint]] = {}
    for a, b in pairs(live, ends)[0]:
        # Traffic of a tenant without a tunnel leaves by slices; the leaf's own loopbacks show its hash as well.
        leaf = live.lab.views.get(a.leaf)
        if leaf is None:
            continue  # servers without switches
        if a.leaf != b.leaf and (leaf.overlay or not leaf.vrfs):
            inside.setdefault(a.leaf, (a, b))
    expected = forwarding(live.lab)
    for name, view in live.lab.views.items():
        if view.device.role != LEAF:
            continue
        if name in inside:
            a, b = inside[name]
            yield name, (a.server, a.address, b.address, b.leaf)
            continue
        for other_name, far in live.lab.views.items():
            if far.device.role == LEAF and expected[name].get(originated(far)[0]):
                addresses = (originated(end)[0].partition("/")[0] for end in (view, far))
                yield name, (name, *addresses, other_name)  # type: ignore[misc]
                break


def _send(
    live: Live, leaf: str, node: str, source: str, target: str, links: list[str], *, flows: int, packets: int = 1
) -> dict[str, int]:
    """Packets that each link carried of so many flows; flows differ in their source port alone."""
    before = live.sent(leaf)
    family = socket.AF_INET6 if ":" in source else socket.AF_INET
    for number in range(flows):
        with live.socket(node, "", family, socket.SOCK_DGRAM) as flow:
            flow.bind((source, FIRST_PORT + number))
            as_roce(flow)
            for _ in range(packets):
                try:
                    flow.sendto(b"fabric-lab", (target, DISCARD))
                except OSError:
                    continue  # refused by an earlier packet's answer
    after = live.sent(leaf)
    return {link: after.get(link, 0) - before.get(link, 0) for link in links}


PROOF = Proof("spreading", "Flows spread over equal links", show)
