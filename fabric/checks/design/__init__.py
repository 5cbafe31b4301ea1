"""Checks of the plan, before a single file is written: a file a subject, a class a property.

FAB201 to FAB207 routing, to FAB210 addressing, to FAB217 overlay, to FAB228 lossless, to FAB233 physical, to FAB237
resilience, to FAB240 management; FAB243 lossless.
"""

from __future__ import annotations

from fabric.checks.base import DesignCheck
from fabric.checks.design import addressing, buffers, lossless, management, overlay, physical, ports, resilience, routing


def checks() -> tuple[DesignCheck, ...]:
    """One of every check, by id."""
    return (
        routing.AsNumbers(),
        routing.AsNumbersApart(),
        routing.SessionEnds(),
        routing.MaximumPaths(),
        routing.MaximumPrefixes(),
        routing.Timers(),
        routing.RouterIds(),
        addressing.UniqueAddresses(),
        addressing.LinkSubnets(),
        addressing.Pools(),
        overlay.TunnelMtu(),
        overlay.StatedMtu(),
        overlay.Identifiers(),
        overlay.Distinguishers(),
        overlay.RouteServers(),
        overlay.Segments(),
        overlay.Ownership(),
        lossless.PfcAtBothEnds(),
        lossless.OneLosslessPriority(),
        lossless.Marks(),
        buffers.MarkingBeforePause(),
        buffers.EnoughHeadroom(),
        buffers.BufferHolds(),
        buffers.Watchdogs(),
        lossless.BalancedByLoad(),
        lossless.LosslessWhereMeant(),
        lossless.PfcOnEveryTier(),
        physical.UniformLinks(),
        physical.PlanesApart(),
        ports.Ports(),
        physical.Speeds(),
        physical.CableReach(),
        resilience.FewSpines(),
        resilience.SinglePoints(),
        resilience.Oversubscription(),
        resilience.Bisection(),
        management.ManagementApart(),
        management.TimeAndLogs(),
        management.Reach(),
        buffers.CablesWithinHeadroom(),
    )
