"""What PFC headroom leaves of a switch's buffer, and when a priority group sends PAUSE."""

from __future__ import annotations

from collections.abc import Sequence

from fabric.hardware.catalog.asics import Asic, HeadroomTable
from fabric.hardware.catalog.models import SwitchModel
from fabric.hardware.headroom import Headroom
from fabric.model.plan import Buffer


def buffer_of(chip: Asic | None, model: SwitchModel, switch: str, ports: Sequence[tuple[Headroom, int]]) -> Buffer:
    """Distribution of a switch's buffer, given the headroom of its lossless ports and how many there are of each.

    Every port counts with its whole headroom at once, in chips that share headroom as well: a design that only fits while
    few ports are congested is not lossless. With n ports congested and alpha = 2^exponent a group may hold
    alpha x shared / (1 + n x alpha) bytes before it sends PAUSE: the rule of dynamic thresholds (Choudhury and Hahne,
    IEEE/ACM Transactions on Networking 6(2), 1998), taken where all n groups have reached it.
    """
    table = table_of(chip, switch)
    shared = table is not None and table.shared
    known = table.threshold if table is not None else chip.threshold if chip is not None else None
    exponent = known or 0  # a chip whose threshold is a number of bytes is computed with alpha = 1
    count = sum(number for _, number in ports)
    pool = sum(room.xoff_bytes * number for room, number in ports) if shared else 0
    reserved = pool + sum(room.size_bytes * number for room, number in ports)
    total = total_bytes(chip, model)
    if total is None or not count:
        return Buffer(
            total_bytes=total,
            reserved_bytes=reserved,
            headroom_pool_bytes=pool,
            shared_bytes=None if total is None else total - reserved,
            alpha_exponent=exponent,
            trigger_bytes=None,
        )
    left = max(0, total - reserved)
    alpha = 2.0**exponent
    return Buffer(
        total_bytes=total,
        reserved_bytes=reserved,
        headroom_pool_bytes=pool,
        shared_bytes=left,
        alpha_exponent=exponent,
        trigger_bytes=int(alpha * left / (1 + count * alpha)),
    )


def total_bytes(chip: Asic | None, model: SwitchModel) -> int | None:
    """Bytes that pools can have: SONiC's figure of the chip or that of the data sheet; that of the switch where smaller."""
    known = [size for size in (chip.pool_bytes or chip.buffer_bytes if chip else None, model.buffer_bytes) if size]
    return min(known) if known else None


def table_of(chip: Asic | None, switch: str) -> HeadroomTable | None:
    """The published table of a switch, else the default table of its chip."""
    if chip is None:
        return None
    own = next((table for table in chip.tables if switch in table.switches), None)
    return own or next((table for table in chip.tables if table.default), None)
