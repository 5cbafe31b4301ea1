"""Servers cabled to each other: which port leads where, what cannot be cabled, and what the solver makes of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.configs.hosts import host_files
from fabric.model.plan import FabricPlan, Plan, PortLabels
from fabric.model.plan.summary import summary
from fabric.solver.network import network, routes

RING = "model: dgx-spark, count: 3 | kind: ring"
PAIR = "model: dgx-h100, count: 2 | kind: back-to-back"
QUAD = "model: dgx-h100, count: 4 | kind: ring"


def planned(design: str, tmp_path: Path) -> Plan:
    servers, topology, *more = design.split(" | ")
    path = tmp_path / "d.yaml"
    path.write_text(
        f"version: 1\nsite: d\nfabrics:\n  f:\n    servers: {{{servers}}}\n    topology: {{{topology}}}\n"
        + "".join(f"    {key}\n" for key in more),
        encoding="utf-8",
    )
    return pipeline.plan(pipeline.load(path))


def cables(fabric: FabricPlan) -> list[str]:
    names, links = PortLabels(fabric), fabric.links
    ends = [[f"{fabric.devices[at].number}:{names.at(n, end)}" for n, at in enumerate(getattr(links, end))] for end in "ab"]
    return [" ".join(pair) for pair in zip(*ends, strict=True)]


# The ring of NVIDIA/dgx-spark-playbooks@a8bb888 nvidia/connect-three-sparks/README.md: the first port of each leads to the
# second of the next; and of connect-two-sparks: the same port of both.
@pytest.mark.parametrize(
    ("design", "expected"),
    [
        (RING, ["1:compute1p1 2:compute1p2", "1:compute1p2 3:compute1p1", "2:compute1p1 3:compute1p2"]),
        ("model: dgx-spark, count: 2 | kind: back-to-back", ["1:compute1p1 2:compute1p1", "1:compute1p2 2:compute1p2"]),
        (
            "model: dgx-spark, count: 3 | kind: back-to-back",
            ["1:compute1p1 2:compute1p1", "1:compute1p2 3:compute1p1", "2:compute1p2 3:compute1p2"],
        ),
    ],
)
def test_ports_of_neighbors(design: str, expected: list[str], tmp_path: Path) -> None:
    assert cables(planned(design, tmp_path).fabrics["f"]) == expected


@pytest.mark.parametrize("model", ["dgx-h100", "dgx-spark", "gb200-tray"])
@pytest.mark.parametrize("kind", ["back-to-back", "ring"])
@pytest.mark.parametrize("count", range(2, 10))
def test_cables_are_even_and_ports_used_once(model: str, kind: str, count: int, tmp_path: Path) -> None:
    ports = {"dgx-h100": 8, "dgx-spark": 2, "gb200-tray": 4}[model]
    if not (2 <= count <= ports + 1 if kind == "back-to-back" else 3 <= count <= 8):
        with pytest.raises(InputError, match="FAB109"):
            planned(f"model: {model}, count: {count} | kind: {kind}", tmp_path)
        return
    fabric = planned(f"model: {model}, count: {count} | kind: {kind}", tmp_path).fabrics["f"]
    links = fabric.links
    ends = [*zip(links.a, links.a_cage, links.a_sub, strict=True), *zip(links.b, links.b_cage, links.b_sub, strict=True)]
    assert len(set(ends)) == len(ends)
    pairs = Counter(zip(links.a.tolist(), links.b.tolist(), strict=True))
    assert len(set(pairs.values())) == 1
    neighbors = Counter(end for pair in pairs for end in pair)
    assert set(neighbors.values()) == {count - 1 if kind == "back-to-back" or count == 3 else 2}
    row = summary(fabric.spec, fabric.sizing)
    assert (row["links"]["server-server"], sum(row["switches"].values()), row["tiers"]) == (len(links), 0, 0)
    assert len({*fabric.subnet.tolist(), *(fabric.subnet + 1).tolist()}) == 2 * len(links)


@pytest.mark.parametrize(
    ("design", "message"),
    [
        (
            "model: dgx-spark, count: 4 | kind: back-to-back",
            "count: expected 2 to 3 servers with `kind: back-to-back`",
        ),
        ("model: dgx-spark, count: 2 | kind: ring", "count: expected 3 to 8 servers with `kind: ring`, got 2"),
        ("model: dgx-spark, count: 9 | kind: ring", "count: expected 3 to 8 servers with `kind: ring`, got 9"),
        ("model: cpu-2x25, count: 3, nics: oob | kind: ring", "kind: a ring needs two NIC ports of a server, got one"),
        ("model: dgx-h100, count: 2 | kind: back-to-back, switch: sn5600", "switch: expected none with `kind: back-to-back`"),
        ("model: dgx-h100, count: 2 | kind: back-to-back, planes: 2", "planes: expected none with `kind: back-to-back`"),
        ("model: dgx-h100, count: 2 | kind: back-to-back | nos: sonic", "nos: expected none with `kind: back-to-back`"),
        ("model: dgx-h100, count: 2 | kind: back-to-back | planned: {servers: 4}", "planned: expected none with"),
    ],
)
def test_what_cannot_be_cabled(design: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        planned(design, tmp_path)
    (item,) = error.value.diagnostics
    assert item.message.startswith(message)
    assert item.hint or "one group" in item.message


def test_it_is_stated_and_never_chosen(tmp_path: Path) -> None:
    assert planned("model: dgx-h100, count: 2 | switch: sn5600", tmp_path).fabrics["f"].sizing.leaves == 1


def files(plan: Plan) -> dict[str, str]:
    return {path: data.decode() for path, data in host_files(plan)}


def test_routes_of_a_triangle(tmp_path: Path) -> None:
    text = files(planned(RING, tmp_path))["hosts/dgx-spark-0002/60-fabric.yaml"]
    routes_ = [line.strip("- ") for line in text.splitlines() if "via:" in line]
    assert routes_ == [
        '{to: "10.0.0.1/32", via: "10.128.0.9", from: "10.0.0.2", metric: 101}',
        '{to: "10.0.0.3/32", via: "10.128.0.9", from: "10.0.0.2", metric: 100}',
        '{to: "10.0.0.1/32", via: "10.128.0.0", from: "10.0.0.2", metric: 100}',
        '{to: "10.0.0.3/32", via: "10.128.0.0", from: "10.0.0.2", metric: 101}',
    ]
    # Both functions of each port, each with a subnet.
    assert [line.split()[0] for line in text.splitlines() if "compute1p" in line] == [
        "enp1s0f0np0:", "enP2p1s0f0np0:", "enp1s0f1np1:", "enP2p1s0f1np1:",
    ]  # fmt: skip
    assert '    fabric0:\n      interfaces: []\n      addresses: ["10.0.0.2/32"]\n' in text


def test_every_way_between_two_servers_is_a_route(tmp_path: Path) -> None:
    plan = planned(QUAD, tmp_path)
    texts = files(plan)
    for name in ("dgx-h100-0001", "dgx-h100-0004"):
        routes_ = [line for line in texts[f"hosts/{name}/60-fabric.yaml"].splitlines() if "via:" in line]
        assert Counter(line.split('"')[1] for line in routes_) == dict.fromkeys(
            [f"10.0.0.{at}/32" for at in range(1, 5) if at != int(name[-1])], 8
        )


@pytest.mark.parametrize(
    ("design", "wanted", "missing"),
    [
        (PAIR, ["NCCL_CROSS_NIC=0", "NCCL_IB_SUBNET_PREFIX_LEN=31", "NCCL_SOCKET_IFNAME==fabric0"], ["NCCL_ALGO", "PFC"]),
        (RING, ["NCCL_CROSS_NIC=1", "NCCL_IB_SUBNET_AWARE_ROUTING=1", "roceP2p1s0f1"], ["NCCL_ALGO"]),
        (QUAD, ["NCCL_ALGO=Ring", "NCCL_IB_MERGE_NICS=0"], ["NCCL_IB_TC"]),
    ],
)
def test_nccl(design: str, wanted: list[str], missing: list[str], tmp_path: Path) -> None:
    texts = files(planned(design, tmp_path))
    (text,) = (text for path, text in texts.items() if path.endswith("nccl.env"))
    assert [word for word in wanted if word not in text] == []
    assert [word for word in missing if word in text] == []
    (sysctl,) = (text for path, text in texts.items() if path.endswith("sysctl.conf"))
    assert ("net.ipv4.ip_forward = 1" in sysctl) is (design != PAIR)
    assert not any(path.endswith("roce.sh") for path in texts)


def test_links_of_another_family(tmp_path: Path) -> None:
    text = files(planned(RING + " | underlay: {addressing: ipv6}", tmp_path))["hosts/dgx-spark-0001/60-fabric.yaml"]
    assert "/127" in text
    assert '/128", via: "' in text


def test_the_lock_keeps_addresses(tmp_path: Path) -> None:
    small = planned("model: dgx-h100, count: 3, per_rack: 2 | kind: back-to-back", tmp_path)
    intent = pipeline.load(tmp_path / "d.yaml")
    pipeline.generate(intent)
    again = pipeline.plan(intent)
    assert again.lock == small.lock
    assert [device.rack for device in again.fabrics["f"].devices] == [0, 0, 1]


def test_a_pair_has_a_cable_of_each_port(tmp_path: Path) -> None:
    result = pipeline.capacity(planned(PAIR, tmp_path).fabrics["f"], (), 0, 0)
    assert result.bisection is not None
    assert (result.bisection.share, result.bisection.rate_GBps) == (pytest.approx(1), pytest.approx(400))


def test_a_ring_is_cut_at_two_places(tmp_path: Path) -> None:
    result = pipeline.capacity(planned(QUAD, tmp_path).fabrics["f"], (), 0, 0)
    assert result.bisection is not None
    assert (result.bisection.share, result.bisection.limits) == (pytest.approx(0.5), ("server-server",))
    assert [loss.what for loss in result.singles] == ["server-server link"]


def test_next_hops_around_a_ring(tmp_path: Path) -> None:
    net = network(planned("model: dgx-spark, count: 5 | kind: ring", tmp_path).fabrics["f"])
    table = routes(net)
    relays = [at for at, level in enumerate(net.level) if level == 1]
    hops = {}
    for here in relays:
        for there in relays:
            if here != there:
                start, count = table.next_hops(net.tail[:1] * 0 + here, net.tail[:1] * 0 + there)
                found = net.head[table.pool[int(start[0]) : int(start[0] + count[0])]]
                hops[relays.index(here), relays.index(there)] = [relays.index(int(at)) for at in found]
    assert hops[0, 1] == [1]
    assert hops[0, 2] == [1]
    assert hops[0, 3] == [4]
    assert len(hops) == 20
