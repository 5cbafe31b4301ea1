"""How the shared buffer is divided: the published shares, or more headroom where the plan's cables and ports need it."""

from __future__ import annotations

from dataclasses import replace

from fabric.base.rounding import ceil_div
from fabric.model.plan import Buffer
from fabric.nos.junos.write.platform import Partition, Platform
from fabric.nos.target import CannotRender

HEADROOM, LOSSLESS, LOSSY = "lossless-headroom", "lossless", "lossy"
MAX_HEADROOM_PERCENT = 80  # the rest is 15 for the lossless class before it pauses, and 5 for best effort
MIN_LOSSY_PERCENT = 5


def partitions(buffer: Buffer, hardware: Platform) -> tuple[tuple[Partition, ...], tuple[Partition, ...]]:
    """Ingress and egress. Ingress adds up to 100 percent, and the lossless share is the same on both sides."""
    published = {part.name: part.percent for part in hardware.ingress}
    if HEADROOM not in published or not buffer.total_bytes:
        return hardware.ingress, hardware.egress
    needed = buffer.headroom_pool_bytes or buffer.reserved_bytes
    shared = buffer.total_bytes * hardware.shared_percent // 100
    headroom = max(published[HEADROOM], ceil_div(100 * needed, shared))
    if headroom > MAX_HEADROOM_PERCENT:
        raise CannotRender(
            f"expected PFC headroom within {MAX_HEADROOM_PERCENT} % of the shared buffer, "
            f"{shared * MAX_HEADROOM_PERCENT // 100:,} bytes of {shared:,}, got {needed:,}: "
            "shorter cables, or fewer or slower ports"
        )
    rest = 100 - headroom
    lossy = max(MIN_LOSSY_PERCENT, rest * published[LOSSY] // (100 - published[HEADROOM]))
    shares = {HEADROOM: headroom, LOSSLESS: rest - lossy, LOSSY: lossy}
    return _shared_out(hardware.ingress, shares), _shared_out(hardware.egress, shares)


def _shared_out(parts: tuple[Partition, ...], shares: dict[str, int]) -> tuple[Partition, ...]:
    return tuple(replace(part, percent=shares[part.name]) for part in parts)
