"""Hash families against their published check values, and what seeds, offsets and rotations do to a linear hash."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fabric import pipeline
from fabric.configs.view_of import Views
from fabric.solver.ecmp.hashing import (
    FAMILIES,
    FIVE_TUPLE,
    SEEDINGS,
    Hash,
    by_tier,
    configured,
    digest,
    key,
    own_seeds,
    remainder,
    seeded,
)
from fabric.solver.network import LEVELS
from tests import ROOT

INTENTS = ROOT / "intent"
STABLE = settings(derandomize=True, deadline=None, database=None, max_examples=40)


def rows(*strings: bytes) -> np.ndarray:
    return np.array([list(string) for string in strings], dtype=np.uint8)


def packets(count: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Header fields of flows that differ in the UDP source port and the addresses."""
    draw = np.random.Generator(np.random.PCG64(seed))
    ip = draw.integers(0x0A800000, 0x0A810000, size=(2, count)).astype(np.uint32)
    return {
        "src_ip": ip[0],
        "dst_ip": ip[1],
        "ip_protocol": np.full(count, 17, np.uint32),
        "l4_src_port": draw.integers(0xC000, 0x10000, count).astype(np.uint32),
        "l4_dst_port": np.full(count, 4791, np.uint32),
    }


def values(hash_: Hash, columns: dict[str, np.ndarray]) -> np.ndarray:
    return seeded(hash_, digest(hash_, columns))


# "Catalogue of parametrised CRC algorithms" (reveng.sourceforge.io/crc-catalogue): the check of "123456789".
@pytest.mark.parametrize(
    ("family", "initial", "last", "check"),
    [
        ("crc16", 0, 0, 0xBB3D),  # CRC-16/ARC
        ("crc16", 0xFFFF, 0, 0x4B37),  # CRC-16/MODBUS
        ("crc16-ccitt", 0, 0, 0x31C3),  # CRC-16/XMODEM
        ("crc16-ccitt", 0xFFFF, 0, 0x29B1),  # CRC-16/IBM-3740
        ("crc32", 0xFFFFFFFF, 0xFFFFFFFF, 0xCBF43926),  # CRC-32/ISO-HDLC
        ("crc32c", 0xFFFFFFFF, 0xFFFFFFFF, 0xE3069283),  # CRC-32/ISCSI
    ],
)
def test_a_crc_gives_its_published_check(family: str, initial: int, last: int, check: int) -> None:
    assert int(remainder(family, rows(b"123456789"), initial)[0]) ^ last == check


@STABLE
@given(st.lists(st.binary(min_size=14, max_size=14), min_size=1, max_size=5))
def test_crc32_is_that_of_zlib(strings: list[bytes]) -> None:
    found = remainder("crc32", rows(*strings), 0xFFFFFFFF) ^ 0xFFFFFFFF
    assert found.tolist() == [zlib.crc32(string) for string in strings]


@STABLE
@given(st.sampled_from(sorted(FAMILIES)), st.binary(min_size=1, max_size=20), st.integers(0, 4))
def test_padding_is_zero_bytes(name: str, string: bytes, zeros: int) -> None:
    even = string + bytes(len(string) % 2)  # a fold takes whole words
    zeros *= 2
    assert remainder(name, rows(even), padding=zeros) == remainder(name, rows(even + bytes(zeros)))


@pytest.mark.parametrize(
    ("family", "value"), [("xor16", 0x1234 ^ 0xABCD ^ 0x00FF), ("xor8", 0x12 ^ 0x34 ^ 0xAB ^ 0xCD ^ 0xFF)]
)
def test_a_fold_is_the_xor_of_its_words(family: str, value: int) -> None:
    assert remainder(family, rows(bytes.fromhex("1234abcd00ff"))).tolist() == [value]


def test_the_halves_of_crc32c_make_the_whole() -> None:
    columns = packets(100)
    whole, low, high = (
        values(Hash(family=family, seeding="key", seed=9), columns) for family in ("crc32c", "crc32c-low", "crc32c-high")
    )
    assert (whole == (low | high << np.uint32(16))).all()


@STABLE
@given(
    st.sampled_from(sorted(FAMILIES)),
    st.binary(min_size=14, max_size=14),
    st.binary(min_size=14, max_size=14),
)
def test_every_family_is_linear(name: str, one: bytes, other: bytes) -> None:
    both = bytes(a ^ b for a, b in zip(one, other, strict=True))
    assert remainder(name, rows(both)) == remainder(name, rows(one)) ^ remainder(name, rows(other))


@STABLE
@given(
    st.sampled_from(sorted(FAMILIES)),
    st.sampled_from(("key", "initial")),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
)
def test_a_seed_in_the_key_or_register_xors_a_constant(name: str, seeding: str, one: int, other: int) -> None:
    columns = packets(200)
    base = Hash(family=name, seeding=seeding)
    difference = values(replace(base, seed=one), columns) ^ values(replace(base, seed=other), columns)
    assert len(np.unique(difference)) == 1
    assert replace(base, seed=one).repeats(replace(base, seed=other))


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_a_mixed_seed_makes_another_function(name: str) -> None:
    columns = packets(20_000)
    one, other = (values(Hash(family=name, seed=seed), columns) % 16 for seed in (1, 2))
    counts = np.bincount(one.astype(int) * 16 + other, minlength=256)
    if name == "xor8":  # 256 values in all: too few for a test of independence, yet all pairs of choices occur
        assert (counts > 0).mean() > 0.5
        return
    chi2 = ((counts - counts.mean()) ** 2 / counts.mean()).sum()
    assert chi2 < 255 + 6 * np.sqrt(2 * 255)
    assert not Hash(family=name, seed=1).repeats(Hash(family=name, seed=2))


@pytest.mark.parametrize("seeding", SEEDINGS)
@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_values_fit_the_width_and_seeds_may_differ_by_packet(name: str, seeding: str) -> None:
    hash_, columns = Hash(family=name, seeding=seeding, seed=7, offset=3), packets(50)
    found = values(hash_, columns)
    assert int(found.max()) < 2**hash_.bits
    seeds = np.arange(50) % 2 + 7
    mixed = seeded(hash_, digest(hash_, columns), seeds)
    assert (mixed[::2] == found[::2]).all()
    assert (mixed[1::2] == values(replace(hash_, seed=8), columns)[1::2]).all()


def test_an_offset_turns_the_result_right() -> None:
    columns = packets(50)
    plain = values(Hash(family="crc16", seeding="key"), columns).astype(int)
    turned = values(Hash(family="crc16", seeding="key", offset=5), columns).astype(int)
    assert (turned == (plain >> 5 | plain << 11 & 0xFFFF)).all()


@STABLE
@given(st.integers(0, 200))
def test_a_rotation_turns_the_key_right(bits: int) -> None:
    columns = packets(5)
    length, turn = 8 * 14, bits % (8 * 14)
    expected = []
    for string in key(columns, FIVE_TUPLE):
        number = int.from_bytes(bytes(string), "big")
        turned = (number >> turn | number << (length - turn)) & (1 << length) - 1
        expected.append(turned.to_bytes(14, "big"))
    assert (digest(Hash(family="crc32", rotate=bits), columns) == remainder("crc32", rows(*expected))).all()


def test_the_key_is_the_fields_in_order_in_whole_bins() -> None:
    one = {"src_ip": 0x0A010203, "dst_ip": 0x0A0A0B0C, "ip_protocol": 17, "l4_src_port": 0xC123, "l4_dst_port": 4791}
    columns = {name: np.array([value], dtype=np.uint32) for name, value in one.items()}
    assert bytes(key(columns, FIVE_TUPLE)[0]).hex() == "0a0102030a0a0b0c0011c12312b7"
    assert bytes(key(columns, ("l4_src_port", "src_ip"))[0]).hex() == "c1230a010203"


def test_only_the_chosen_fields_count() -> None:
    columns = packets(50)
    other = {**columns, "l4_src_port": columns["l4_src_port"] ^ np.uint32(1)}
    for fields, same in ((("src_ip", "dst_ip"), True), (FIVE_TUPLE, False)):
        hash_ = Hash(fields=fields)
        assert (values(hash_, columns) == values(hash_, other)).all() == same


@pytest.mark.parametrize("intent", ["starter", "b200-3tier", "ai-frr"])
def test_seeds_are_those_of_the_generated_configs(intent: str) -> None:
    plan = pipeline.plan(pipeline.load(INTENTS / f"{intent}.yaml"))
    for fabric in plan.fabrics.values():
        views, hashing = Views(plan, fabric), configured(fabric)
        tiers = {device.role: device for device in fabric.switches}
        assert tiers
        for role, device in tiers.items():
            assert hashing[LEVELS[role]].seed == views.of(device).balancing.seed


def test_every_tier_and_every_switch_has_a_seed() -> None:
    assert [hash_.seed for hash_ in by_tier(5, Hash(family="crc16", offset=3)).values()] == [5, 6, 7]
    assert {hash_.offset for hash_ in by_tier(5, Hash(family="crc16", offset=3)).values()} == {3}
    assert len(np.unique(own_seeds(1, np.arange(1000)))) == 1000


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"family": "crc23"}, r"expected a hash family, got 'crc23': did you mean 'crc32"),
        ({"fields": ("src_port",)}, r"expected a header field, got 'src_port': did you mean 'l4_src_port'"),
        ({"fields": ()}, "expected at least one header field"),
        ({"seeding": "keys"}, "expected a seeding, got 'keys': did you mean 'key'"),
        ({"seed": -1}, "expected a seed from 0 to 4294967295, got -1"),
    ],
)
def test_wrong_words_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Hash(**wrong)  # type: ignore[arg-type]
