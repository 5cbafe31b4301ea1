"""Cable lengths of a fabric: as stated, else the smallest class that covers the floor plan of the finished fabric.

Classes are few and coarse on purpose, and the lock keeps the class that is in use: headroom, ECN thresholds and CABLE_LENGTH
follow from it, and growth must not change them in service. All classes are lengths that every medium is sold in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from fabric.base.diagnostics import Report
from fabric.model.plan import (
    CLASSES_M,
    FLOOR,
    KINDS,
    LOCK,
    LONGER_WARNING,
    STATED,
    FabricSpec,
    Length,
    Lengths,
    Longer,
    class_of,
    longer_text,
)
from fabric.model.plan.lock_file import FabricLock


def assumed(spec: FabricSpec, longest_m: Mapping[str, float], lock: FabricLock) -> FabricSpec:
    """The fabric with the length of every kind of link that it has.

    Args:
        longest_m: by kind of link, the longest cable of the floor plan of the finished fabric.
        lock: the classes in use; none is lowered.
    """
    return replace(
        spec,
        lengths=tuple(
            length if length.source == STATED else _class(longest_m.get(kind, 0.0), lock.lengths.get(kind, 0))
            for kind, length in zip(KINDS, spec.lengths, strict=True)
        ),
    )


def _class(longest_m: float, in_use: int) -> Length:
    if not longest_m:
        return Length(0)
    metres = class_of(longest_m)
    return Length(max(metres, in_use), LOCK if in_use > metres else FLOOR, longest_m)


def kept(lengths: Lengths) -> dict[str, int]:
    """What the lock keeps: the class of every kind of link whose length is not stated."""
    return {kind: its.metres for kind, its in zip(KINDS, lengths, strict=True) if its.source in (FLOOR, LOCK)}


def report_changes(spec: FabricSpec, lock: FabricLock, report: Report, *, lossless: bool) -> None:
    """Warns of classes that change thresholds in service, and of those that no class covers."""
    for kind, length in zip(KINDS, spec.lengths, strict=True):
        where, in_use = spec.at("topology", "cable_length_m", kind), lock.lengths.get(kind, 0)
        if length.source == FLOOR and length.metres > CLASSES_M[-1]:
            report.warn(
                "FAB195",
                where,
                f"fabric '{spec.name}': expected {kind} cables of at most {CLASSES_M[-1]} m, the longest class, got up to "
                f"{length.longest_m:g} m on the floor plan; {length.metres:,} m is assumed",
                "correct `floor:` (rows, racks per row), or set the longest cable under `topology.cable_length_m`",
            )
        if lossless and length.source == FLOOR and 0 < in_use < length.metres:
            report.warn(
                "FAB188",
                where,
                f"fabric '{spec.name}': {kind} cables outgrow the {in_use} m in use (longest {length.longest_m:g} m): "
                f"{length.metres} m are assumed, and PFC headroom, buffer and ECN values of switches in service change",
                f"`cable_length_m: {{{kind}: {in_use}}}` keeps the values, if no cable is longer; `planned:` chooses them "
                "for the finished fabric",
            )
    classes = kept(spec.lengths)
    if lossless and lock.blocks and classes and not lock.lengths:
        text = ", ".join(f"{kind} {metres} m" for kind, metres in classes.items())
        report.warn(
            "FAB188",
            spec.at("topology", "cable_length_m"),
            f"fabric '{spec.name}': the lock file records no cable lengths; the floor plan defines them now ({text}): "
            "PFC headroom, buffer and ECN values of switches in service may change",
            "set `topology.cable_length_m` to choose the lengths; `fabric generate` records them in the lock file",
        )


def report_longer(spec: FabricSpec, longer: Iterable[Longer], report: Report) -> None:
    """Warns of cables that are longer than the stated length that PFC headroom is computed for."""
    for its in longer:
        text, hint = longer_text(its)
        report.warn(
            LONGER_WARNING, spec.at("topology", "cable_length_m", KINDS[its.kind]), f"fabric '{spec.name}': {text}", hint
        )
