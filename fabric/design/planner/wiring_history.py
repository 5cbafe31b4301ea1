"""The history of a wiring as the lock keeps it. Histories of two branches become one.

Every epoch is a record with its place in the history. It holds how many lower switches there were when it began, so an
epoch that is over is never written again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fabric.design.planner.port_assignment import same
from fabric.model.plan import Epoch, Record, Shape, rank


def joined(records: Iterable[Record], shape: Shape) -> tuple[Record, ...]:
    """The history of a shape: equal records of one position are merged, others follow each other."""
    chain: list[Record] = []
    for record in sorted((record for record in records if record.shape == shape), key=rank):
        for at, other in enumerate(chain):
            if other.place == record.place and _agree(other.epoch, record.epoch):
                links = tuple(sorted({*other.epoch.links, *record.epoch.links}))
                lowers = max(other.epoch.lowers, record.epoch.lowers)
                chain[at] = replace(
                    other, after=min(other.after, record.after), epoch=Epoch(record.epoch.uppers, links, lowers)
                )
                break
        else:
            chain.append(record)
    return tuple(sorted(chain, key=rank))


def _agree(one: Epoch, other: Epoch) -> bool:
    """Whether two epochs are of equal numbers; each may have groups that the other does not have."""
    links = dict(one.links)
    return one.uppers == other.uppers and all(links.get(group, count) == count for group, count in other.links)


def epochs(chain: Sequence[Record]) -> tuple[Epoch, ...]:
    """A history as the planner replays it: every epoch ends with the lowers that the next began with."""
    ends = [record.after for record in chain[1:]] + [record.epoch.lowers for record in chain[-1:]]
    return tuple(replace(record.epoch, lowers=end) for record, end in zip(chain, ends, strict=True))


def records(history: Sequence[Epoch], chain: Sequence[Record], former: Iterable[Record], shape: Shape) -> tuple[Record, ...]:
    """The records for the lock of a history that continues `chain`, or starts again; `former` are those of the lock."""
    last = max((record.place for record in former), default=0)
    goes_on = len(history) >= len(chain) > 0 and all(
        same(record.epoch, epoch) for record, epoch in zip(chain, history, strict=False)
    )
    old = chain if goes_on else ()
    result = [replace(record, epoch=replace(record.epoch, links=e.links)) for record, e in zip(old, history, strict=False)]
    for epoch in history[len(old) :]:
        last += 1
        result.append(Record(last, shape, result[-1].epoch.lowers if result else 0, epoch))
    result[-1] = replace(result[-1], epoch=history[-1])
    return tuple(result)
