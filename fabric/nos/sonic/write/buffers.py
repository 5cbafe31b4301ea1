"""Buffers of a switch with a lossless class: pools, profiles, and who uses which. SONiC has two models.

`dynamic`, on NVIDIA's chips: the switch computes headroom from speed, cable length and traffic pattern by itself.
`traditional`, elsewhere: every figure is written. Its buffer manager looks for (speed, cable length) in a table of the SKU
and leaves a port without a lossless group when there is no such row. So profile and group are written outright, under the
very names it would choose: with a row it finds its work done, without one the length 0m tells it to keep off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from fabric.hardware.catalog.asics import BufferPool, BufferProfile, TierBuffers
from fabric.model.plan import LEAF, Lossless, Port, Qos, SwitchView
from fabric.nos.sonic.write.ports import Table, Tables, board_of, hwsku
from fabric.nos.target import CannotRender

NVIDIA, TOFINO = "nvidia", "intel"  # families of the chip catalog
AZURE = "AZURE"  # the one row name that SONiC's buffer managers are shipped with
INGRESS, EGRESS = "ingress_lossless_pool", "egress_lossless_pool"
KEEP_OFF = "0m"

# What device/mellanox has for every switch; two of its SKUs (SN5610, SN5640) ship only the lossy half.
NVIDIA_PROFILES = {
    "ingress_lossless_profile": BufferProfile(pool=INGRESS, size_bytes=0, dynamic_th=7),
    "ingress_lossy_profile": BufferProfile(pool=INGRESS, size_bytes=0, dynamic_th=3),
    "egress_lossless_profile": BufferProfile(pool=EGRESS, size_bytes=0, dynamic_th=7),
    "egress_lossy_profile": BufferProfile(pool="egress_lossy_pool", size_bytes=9216, dynamic_th=7),
    "q_lossy_profile": BufferProfile(pool="egress_lossy_pool", size_bytes=0, dynamic_th=3),
}
USED = tuple(NVIDIA_PROFILES)
# As in the same files: a port without a cable reserves nothing, which leaves more to the others.
ZERO_POOL = {"size": "0", "type": "ingress", "mode": "static"}
ZERO_GROUP = {"pool": "ingress_zero_pool", "size": "0", "static_th": "0"}


@dataclass(frozen=True, slots=True)
class Headroom:
    """A lossless profile of the traditional model, and what CABLE_LENGTH says to the ports that have it."""

    profile: str
    cable: str


def maker(view: SwitchView, platform: str) -> str:
    """Whose chip it is, as far as SONiC's buffer and QoS tables differ by it."""
    from fabric.hardware.catalog.asics import asic  # imported here: the tables are large, and switches without QoS need none

    chip = asic(view.model.asic) if view.model.asic else None
    if chip is None:
        return NVIDIA if platform.startswith(("x86_64-mlnx_", "x86_64-nvidia_")) else ""
    return chip.family


def buffer_model(view: SwitchView, platform: str) -> str:
    """The dynamic model has a plugin per chip maker, and only NVIDIA's is used here."""
    if view.qos and view.qos.buffer_model != "static" and maker(view, platform) == NVIDIA:
        return "dynamic"
    return "traditional"


def buffer_tables(view: SwitchView, names: list[str], platform: str, sku: str) -> Tables:
    """CABLE_LENGTH alone without a lossless class: what the cables are is known all the same."""
    ports = dict(zip(names, view.ports, strict=True))
    lengths = {name: f"{max(1, port.length_m)}m" for name, port in ports.items() if port.peer}
    if view.qos is None:
        return {"CABLE_LENGTH": {AZURE: lengths}} if lengths else {}
    nvidia = maker(view, platform) == NVIDIA
    stock = stock_buffers(view, view.qos, sku, nvidia=nvidia)
    if buffer_model(view, platform) == "dynamic":
        return _dynamic(view.qos, stock, ports, lengths)
    return _traditional(view, view.qos, stock, ports, lengths, sku, nvidia=nvidia)


def _dynamic(qos: Qos, stock: TierBuffers, ports: Mapping[str, Port], lengths: dict[str, str]) -> Tables:
    """The switch sizes every pool but one, and takes memory back from ports that are shut."""
    pools = {name: pool_row(pool, sized=name == EGRESS) for name, pool in stock.pools.items()}
    groups: Table = {}
    for name, port in ports.items():
        groups |= {f"{name}|0": {"profile": "ingress_lossy_profile"}}
        if port.lossless:
            groups |= {f"{name}|{number}": {"profile": "NULL"} for number in qos.of(port.lossless)}  # NULL: computed
    return {
        "CABLE_LENGTH": {AZURE: lengths},
        "BUFFER_POOL": pools,
        "BUFFER_PROFILE": {name: profile_row(stock.profiles[name]) for name in USED},
        "BUFFER_PG": groups,
        "BUFFER_QUEUE": queue_rows(qos, ports, "q_lossy_profile"),
        **profile_lists(list(ports)),
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {AZURE: {"default_dynamic_th": str(qos.buffer.alpha_exponent)}},
        "LOSSLESS_TRAFFIC_PATTERN": {
            AZURE: {"mtu": str(qos.lossless_mtu), "small_packet_percentage": "100" if qos.traffic == "static" else "50"}
        },
    }


def _traditional(
    view: SwitchView,
    qos: Qos,
    stock: TierBuffers,
    ports: Mapping[str, Port],
    lengths: dict[str, str],
    sku: str,
    *,
    nvidia: bool,
) -> Tables:
    cabled = {name: port for name, port in ports.items() if port.peer}
    lossy = "q_lossy_profile" if "q_lossy_profile" in stock.profiles else "egress_lossy_profile"
    pools = {name: pool_row(pool, sized=True) for name, pool in stock.pools.items()}
    profiles = {name: profile_row(stock.profiles[name]) for name in USED if name in stock.profiles}
    groups: Table = {}
    widest: dict[str, Lossless] = {}  # lengths that share a row share its profile
    for name, port in cabled.items():
        groups[f"{name}|0"] = {"profile": "ingress_lossy_profile"}
        if port.lossless:
            room = headroom(view, port, sku)
            lengths[name] = room.cable
            groups |= {f"{name}|{number}": {"profile": room.profile} for number in qos.of(port.lossless)}
            known = widest.get(room.profile, port.lossless)
            widest[room.profile] = max(known, port.lossless, key=lambda item: item.xoff_bytes)
    offset = xon_offset(view, sku)
    for profile, lossless in widest.items():
        profiles[profile] = headroom_row(lossless, qos.buffer.alpha_exponent, offset)
    tables: Tables = {
        "CABLE_LENGTH": {AZURE: lengths} if lengths else {},
        "BUFFER_POOL": pools,
        "BUFFER_PROFILE": profiles,
        "BUFFER_PG": groups,
        "BUFFER_QUEUE": queue_rows(qos, cabled, lossy),
    }
    if nvidia:
        tables |= profile_lists(list(cabled))
        _close(tables, [name for name in ports if name not in cabled])
    return tables


def headroom(view: SwitchView, port: Port, sku: str) -> Headroom:
    """The shortest row of the SKU's table that is not shorter than the cable; the cable's own length where there is none."""
    length = max(1, port.length_m)
    rows = sku_rows(view, sku).get(port.ref.speed_gbps, {})
    row = min((listed for listed in rows if listed >= length), default=None)
    profile = f"pg_lossless_{port.ref.speed_gbps * 1000}_{row or length}m_profile"
    return Headroom(profile, KEEP_OFF if row is None else f"{row}m")


def cable_m(view: SwitchView, port: Port) -> int:
    """What CABLE_LENGTH says of a port with the lossless class."""
    board = board_of(view.model, view.device.model)
    if buffer_model(view, board.platform) == "dynamic":
        return max(1, port.length_m)
    return int(headroom(view, port, hwsku(view, board)).cable.removesuffix("m"))


def sku_rows(view: SwitchView, sku: str) -> Mapping[int, Mapping[int, int]]:
    """`pg_profile_lookup.ini` of exactly this SKU: another one's rows are not on the switch."""
    from fabric.hardware.catalog.asics import asic

    chip = asic(view.model.asic) if view.model.asic else None
    return next((table.rows for table in chip.tables if table.sku == sku), {}) if chip else {}


def xon_offset(view: SwitchView, sku: str) -> int | None:
    from fabric.hardware.catalog.asics import asic

    chip = asic(view.model.asic) if view.model.asic else None
    tables = chip.tables if chip else ()
    own = [table for table in tables if table.sku == sku] or [
        table for table in tables if view.device.model in table.switches
    ]
    own = own or [table for table in tables if table.default]
    return own[0].xon_offset_bytes if own else None


# --- what the SKU ships --------------------------------------------------------------------------------------


def stock_buffers(view: SwitchView, qos: Qos, sku: str, *, nvidia: bool) -> TierBuffers:
    """The SKU's pools, else those of another SKU of the switch, else one pool per direction, as on the newest chips."""
    buffers = next(_with_lossless(view, sku), None)
    if buffers is None:
        buffers = _plain(view, qos, nvidia=nvidia)
    if nvidia:
        missing = {name: profile for name, profile in NVIDIA_PROFILES.items() if name not in buffers.profiles}
        buffers = buffers.model_copy(update={"profiles": {**buffers.profiles, **missing}})
    elif "egress_lossless_profile" not in buffers.profiles:
        pool = buffers.pools[EGRESS]
        lossless = BufferProfile(pool=EGRESS, size_bytes=0, static_th=pool.size_bytes)
        buffers = buffers.model_copy(update={"profiles": {**buffers.profiles, "egress_lossless_profile": lossless}})
    return buffers


def _with_lossless(view: SwitchView, sku: str) -> Iterator[TierBuffers]:
    """Of the switch's SKUs those that can carry the class, its own first."""
    from fabric.hardware.catalog.asics import buffers

    known = buffers(view.device.model)
    if known is None:
        return
    for name in (sku, *(other for other in known.skus if other != sku)):
        tier = known.find(name, "leaf" if view.device.role == LEAF else "spine")
        if tier and INGRESS in tier.pools and EGRESS in tier.pools and tier.pools[INGRESS].mode == "dynamic":
            yield tier


def _plain(view: SwitchView, qos: Qos, *, nvidia: bool) -> TierBuffers:
    total, shared = qos.buffer.total_bytes, qos.buffer.shared_bytes
    if total is None or shared is None:
        raise CannotRender(
            f"{view.device.name}: SONiC's buffer pools of {view.device.model} are not known, and without pools no port is "
            "lossless: give the switch its `asic` in the catalog, or set `qos: {enabled: false}`"
        )
    pools = {
        INGRESS: BufferPool(
            size_bytes=shared, type="ingress", mode="dynamic", xoff_bytes=qos.buffer.headroom_pool_bytes or None
        ),
        EGRESS: BufferPool(size_bytes=total, type="egress", mode="dynamic"),
    }
    if nvidia:
        pools["egress_lossy_pool"] = BufferPool(size_bytes=shared, type="egress", mode="dynamic")
        return TierBuffers(pools=pools, profiles={}, source="")
    profiles = {
        "ingress_lossy_profile": BufferProfile(pool=INGRESS, size_bytes=0, static_th=total),
        "egress_lossless_profile": BufferProfile(pool=EGRESS, size_bytes=0, static_th=total),
        "egress_lossy_profile": BufferProfile(pool=EGRESS, size_bytes=0, dynamic_th=0),
    }
    return TierBuffers(pools=pools, profiles=profiles, source="")


# --- rows ----------------------------------------------------------------------------------------------------


def pool_row(pool: BufferPool, *, sized: bool) -> dict[str, str]:
    """Without a size the switch computes it, and the shared headroom with it."""
    row: dict[str, str] = {"type": pool.type, "mode": pool.mode}
    if sized:
        row["size"] = str(pool.size_bytes)
        if pool.xoff_bytes:
            row["xoff"] = str(pool.xoff_bytes)
    return row


def profile_row(profile: BufferProfile) -> dict[str, str]:
    limit = (
        {"static_th": str(profile.static_th)} if profile.static_th is not None else {"dynamic_th": str(profile.dynamic_th)}
    )
    action = {"packet_discard_action": profile.packet_discard_action} if profile.packet_discard_action else {}
    return {"pool": profile.pool, "size": str(profile.size_bytes), **limit, **action}


def headroom_row(lossless: Lossless, exponent: int, offset: int | None) -> dict[str, str]:
    return {
        "pool": INGRESS,
        "size": str(lossless.size_bytes),
        "xon": str(lossless.xon_bytes),
        **({"xon_offset": str(offset)} if offset is not None else {}),
        "xoff": str(lossless.xoff_bytes),
        "dynamic_th": str(exponent),
    }


def queue_rows(qos: Qos, ports: Mapping[str, Port], lossy: str) -> Table:
    """Ranges around the lossless queues: two keys that overlap are an error of the orchestration agent."""
    profiles = ["egress_lossless_profile" if number in qos.paused else lossy for number in range(8)]
    spans, low = [], 0
    for profile, run in groupby(profiles):
        high = low + len(list(run)) - 1
        spans.append((low, high, profile))
        low = high + 1
    split = {str(low) if low == high else f"{low}-{high}": profile for low, high, profile in spans}
    rows: Table = {}
    for name, port in ports.items():
        for queues, profile in (split if port.lossless else {"0-7": lossy}).items():
            rows[f"{name}|{queues}"] = {"profile": profile}
    return rows


def profile_lists(names: list[str]) -> Tables:
    """What a port as a whole may take; NVIDIA's chips have a limit there too."""
    incoming = {"profile_list": "ingress_lossless_profile,ingress_lossy_profile"}
    outgoing = {"profile_list": "egress_lossless_profile,egress_lossy_profile"}
    return {
        "BUFFER_PORT_INGRESS_PROFILE_LIST": {name: dict(incoming) for name in names},
        "BUFFER_PORT_EGRESS_PROFILE_LIST": {name: dict(outgoing) for name in names},
    }


def _close(tables: Tables, names: list[str]) -> None:
    """Ports without a cable give their memory to the pools: the pools' sizes count on it."""
    if not names:
        return
    profiles = tables["BUFFER_PROFILE"]
    zeros: dict[str, dict[str, str]] = {}
    for listed in ("ingress_lossless", "ingress_lossy", "egress_lossless", "egress_lossy"):
        pool = profiles[f"{listed}_profile"]["pool"]
        zeros[f"{listed}_zero_profile"] = {"pool": pool, "size": "0", "dynamic_th": "-8"}
    profiles |= zeros | {"ingress_lossy_pg_zero_profile": dict(ZERO_GROUP)}
    tables["BUFFER_POOL"]["ingress_zero_pool"] = dict(ZERO_POOL)
    for name in names:
        tables["BUFFER_PG"][f"{name}|0"] = {"profile": "ingress_lossy_pg_zero_profile"}
        tables["BUFFER_QUEUE"][f"{name}|0-7"] = {"profile": "egress_lossy_zero_profile"}
        for side in ("ingress", "egress"):
            listed = f"{side}_lossless_zero_profile,{side}_lossy_zero_profile"
            tables[f"BUFFER_PORT_{side.upper()}_PROFILE_LIST"][name] = {"profile_list": listed}
