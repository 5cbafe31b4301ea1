"""The hashes that switch chips choose a next hop with, on arrays of packets.

A chip lays the chosen header fields into a key, runs a CRC or an XOR fold over it, turns the result and takes it modulo
the number of next hops. What follows is Broadcom's RTAG7, whose source is public (OpenBCM, sdk-6.5.20,
`src/bcm/esw/trident/hashing.c` and `src/shared/util.c`): fields in 16-bit bins, IPv6 addresses folded to 32 bits, CRCs
that start at 0, the seed as the last word of the key, a barrel shift of the result (`offset`), then modulo.

CRC and XOR are linear: hash(key ^ d) = hash(key) ^ hash(d). So a seed that is part of the key, or the register's initial
value, XORs one constant into every result: it renames the next hops and keeps flows together that were together one tier
below. See Zhang et al., "Hashing Linearity Enables Relative Path Control in Data Centers", USENIX ATC 2021.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fabric.base.diagnostics import nearest, show
from fabric.model.plan import FabricPlan
from fabric.solver import Ints

Words = NDArray[np.uint32]
Bytes = NDArray[np.uint8]

# SONiC's names of the header fields (`sonic-hash.yang`), with the bytes each takes in the key: whole 16-bit bins.
FIELD_BYTES = {"src_ip": 4, "dst_ip": 4, "ip_protocol": 2, "l4_src_port": 2, "l4_dst_port": 2}
FIVE_TUPLE = tuple(FIELD_BYTES)
SEED_BYTES = 4
SEEDINGS = ("mixed", "key", "initial")


@dataclass(frozen=True)
class Family:
    """A CRC by its polynomial, least significant bit first (`reflected`) or last; no polynomial: an XOR fold."""

    bits: int
    polynomial: int = 0
    reflected: bool = False
    part: tuple[int, int] | None = None  # (lowest, one above the highest) bit that a chip passes on; None: all


FAMILIES: Mapping[str, Family] = {
    "crc16": Family(16, 0x8005, reflected=True),  # IBM, BISYNC
    "crc16-ccitt": Family(16, 0x1021),
    "crc32": Family(32, 0x04C11DB7, reflected=True),  # Ethernet
    "crc32-koopman": Family(32, 0x741B8CD7, reflected=True),
    "crc32c": Family(32, 0x1EDC6F41, reflected=True),  # Castagnoli
    "crc32c-low": Family(32, 0x1EDC6F41, reflected=True, part=(0, 16)),
    "crc32c-high": Family(32, 0x1EDC6F41, reflected=True, part=(16, 32)),
    "xor16": Family(16),
    "xor8": Family(8),
}


@dataclass(frozen=True, kw_only=True)
class Hash:
    """How the switches of one tier hash.

    `seeding` says what the seed does. `key`: it is the last word of the key, as in RTAG7; `initial`: the register starts
    with it; both only XOR a constant into the result. `mixed`: it goes through a multiplication, so that another seed is
    another function: what makers promise of their seeds, most without saying how.
    """

    family: str = "crc32c"
    fields: tuple[str, ...] = FIVE_TUPLE
    seed: int = 0
    seeding: str = "mixed"
    offset: int = 0  # bits the result is turned right (SAI_SWITCH_ATTR_ECMP_DEFAULT_HASH_OFFSET)
    rotate: int = 0  # bits the key is turned right before it is hashed (NX-OS `ip load-sharing … rotate`)
    per_switch: bool = False  # every switch draws a seed of its own from `seed`, as Cumulus Linux does

    def __post_init__(self) -> None:
        for word, words, expected in (
            (self.family, FAMILIES, "a hash family"),
            (self.seeding, SEEDINGS, "a seeding"),
            *((field, FIELD_BYTES, "a header field") for field in self.fields),
        ):
            if word not in words:
                raise ValueError(f"expected {expected}, got {show(word)}: {nearest(word, words)}")
        if not self.fields:
            raise ValueError("expected at least one header field to hash, got none")
        if not 0 <= self.seed < 2**32:
            raise ValueError(f"expected a seed from 0 to {2**32 - 1}, got {self.seed}")

    @property
    def bits(self) -> int:
        """Width of the result."""
        family = FAMILIES[self.family]
        return family.bits if family.part is None else family.part[1] - family.part[0]

    @property
    def linear(self) -> bool:
        """Whether another seed only renames the next hops."""
        return self.seeding != "mixed"

    def repeats(self, other: Hash) -> bool:
        """Whether a switch with this hash repeats the choice of one with the other."""
        own = (self.family, self.fields, self.rotate, self.offset % self.bits, self.seeding)
        if own != (other.family, other.fields, other.rotate, other.offset % other.bits, other.seeding):
            return False
        return self.linear or (self.seed == other.seed and not self.per_switch and not other.per_switch)


Hashing = Mapping[int, Hash]  # by tier: 1 leaf, 2 spine, 3 core


def by_tier(seed: int = 1, hash_: Hash | None = None) -> dict[int, Hash]:
    """The same hash in every tier with a seed of its own: `seed` on leaves, the next on spines, then cores."""
    base = hash_ or Hash()
    own = {name: getattr(base, name) for name in base.__dataclass_fields__ if name != "seed"}
    return {level: Hash(seed=seed + level - 1, **own) for level in (1, 2, 3)}


def configured(fabric: FabricPlan) -> dict[int, Hash]:
    """The hash that the plan's configs ask for: the five-tuple, and the seeds of `underlay.load_balancing`."""
    return by_tier(fabric.spec.underlay.load_balancing.seed)


def key(columns: Mapping[str, Words], fields: tuple[str, ...]) -> Bytes:
    """The key of every packet, [packets, bytes], most significant byte first; stored byte by byte."""
    parts = [
        (columns[field] >> np.uint32(8 * place)).astype(np.uint8)
        for field in fields
        for place in reversed(range(FIELD_BYTES[field]))
    ]
    return np.stack(parts).T


def digest(hash_: Hash, columns: Mapping[str, Words]) -> Words:
    """What the hash makes of every packet before its seed, [packets]. Tiers of one family and fields share it."""
    data = _rotated(key(columns, hash_.fields), hash_.rotate)
    return remainder(hash_.family, data, padding=SEED_BYTES if hash_.seeding == "key" else 0)


def seeded(hash_: Hash, value: Words, seed: Ints | None = None) -> Words:
    """Hash results of digests, [flows].

    With the seed (one per flow if `seed` is given), reduced to the family's bits and rotated by `offset`.
    """
    family = FAMILIES[hash_.family]
    seeds = np.asarray(hash_.seed if seed is None else seed).astype(np.uint32)
    if hash_.seeding == "mixed":
        result = mix(value, seeds) >> np.uint32(32 - family.bits)
    elif hash_.seeding == "key":
        data = np.stack([(seeds >> np.uint32(place)).astype(np.uint8) for place in (24, 16, 8, 0)], axis=-1)
        result = value ^ remainder(hash_.family, data.reshape(-1, SEED_BYTES)).reshape(seeds.shape)
    else:
        result = value ^ _advance(family, seeds & _mask(family.bits), sum(FIELD_BYTES[field] for field in hash_.fields))
    if family.part is not None:
        result = (result >> np.uint32(family.part[0])) & _mask(hash_.bits)
    turn = hash_.offset % hash_.bits
    if turn:
        result = ((result >> np.uint32(turn)) | (result << np.uint32(hash_.bits - turn))) & _mask(hash_.bits)
    return result


def own_seeds(seed: int, switch: Ints) -> Ints:
    """The seed that every switch draws for itself, [switches]."""
    return mix(switch.astype(np.uint32), np.asarray(seed, dtype=np.uint32)).astype(np.int64)


def remainder(name: str, data: Bytes, initial: int = 0, padding: int = 0) -> Words:
    """CRC or fold of byte strings of one length, [strings, bytes], with `padding` zero bytes behind them.

    Because a CRC is linear, it is the XOR of what every byte gives at its place: one look-up a byte, whatever the order.
    """
    family, length = FAMILIES[name], data.shape[1]
    if family.polynomial == 0:
        return _fold(family.bits, data) ^ np.uint32(initial)
    tables = _tables(family, length + padding)
    start = np.asarray(initial, dtype=np.uint32)
    result = np.full(len(data), _advance(family, start, length + padding), dtype=np.uint32)
    for at in range(length):
        result ^= tables[at][data[:, at]]
    return result


def mix(value: Words, seed: Words) -> Words:
    """Scrambles 32-bit values by a 32-bit seed: the finaliser of splitmix64, which is not linear over XOR."""
    state = value.astype(np.uint64) | (seed.astype(np.uint64) << np.uint64(32))
    state = state + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Words = ((state ^ (state >> np.uint64(31))) >> np.uint64(32)).astype(np.uint32)
    return mixed


def _mask(bits: int) -> np.uint32:
    return np.uint32((1 << bits) - 1)


def _fold(bits: int, data: Bytes) -> Words:
    """XOR of a string's 16-bit words, for 8 bits of both their bytes. A last odd byte counts as a high one."""
    halves = [np.bitwise_xor.reduce(data[:, at::2], axis=1).astype(np.uint32) for at in (0, 1)]
    folded: Words = halves[0] ^ halves[1] if bits == 8 else (halves[0] << np.uint32(8)) | halves[1]
    return folded


def _rotated(data: Bytes, bits: int) -> Bytes:
    """Every string turned right by a number of bits."""
    whole, rest = divmod(bits % (8 * data.shape[1]), 8)
    data = np.roll(data, whole, axis=1)
    return (data >> np.uint8(rest)) | (np.roll(data, 1, axis=1) << np.uint8(8 - rest)) if rest else data


@lru_cache
def _table(family: Family) -> Words:
    """CRC of every single byte, [256]."""
    values = np.arange(256, dtype=np.uint32)
    if family.reflected:
        turned = np.uint32(int(f"{family.polynomial:0{family.bits}b}"[::-1], 2))
        for _ in range(8):
            values = np.where(values & 1, (values >> np.uint32(1)) ^ turned, values >> np.uint32(1))
        return values
    values, top = values << np.uint32(family.bits - 8), np.uint32(1 << (family.bits - 1))
    for _ in range(8):
        values = np.where(values & top, (values << np.uint32(1)) ^ np.uint32(family.polynomial), values << np.uint32(1))
    return values & _mask(family.bits)


@lru_cache
def _tables(family: Family, length: int) -> tuple[Words, ...]:
    """What a byte gives at each place of a string: its CRC, followed by as many zero bytes as come after it."""
    tables = [_table(family)]
    while len(tables) < length:
        tables.append(_advance(family, tables[-1], 1))
    return tuple(reversed(tables))


def _advance(family: Family, value: Words, zeros: int) -> Words:
    """The CRC register after further zero bytes."""
    if family.polynomial == 0:
        return value
    table = _table(family)
    for _ in range(zeros):
        if family.reflected:
            value = (value >> np.uint32(8)) ^ table[value & np.uint32(0xFF)]
        else:
            value = ((value << np.uint32(8)) & _mask(family.bits)) ^ table[value >> np.uint32(family.bits - 8)]
    return value
