"""What border leaves of every network OS accept from routers outside: their files, judged by an evaluator of its own.

It goes through policies and prefix lists entry by entry, as each network OS does: the first match decides in a prefix list,
the longest one in a route-filter-list of Junos.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.audit.checks import FilesCheck, Network
from fabric.audit.checks.base import checks
from fabric.audit.checks.site import judge
from fabric.audit.verify.sessions import OUTSIDE, sessions_of
from fabric.model.facts import Facts, Located, PrefixRule
from fabric.model.plan import External, SwitchView
from fabric.nos import policy as neutral
from fabric.nos.reading import read_device

SYSTEMS = ("cumulus", "eos", "frr", "junos", "nxos", "sonic")
SITE = """\
version: 1
site: dc1
catalog:
  servers:
    node: {gpus: 0, nics: {frontend: {count: 2, speed_gbps: 100}}}
fabrics:
  front:
    purpose: frontend
    nos: NOS
    qos: {enabled: false}
    servers: {model: node, count: 8, per_rack: 4}
    topology:
      switch: SWITCH
      leaf: {uplinks: {count: 2}}
      attachments:
        - {name: wan, links: 2, external: {asn: 64602, accept: ACCEPT}}
"""
TENANTS = """\
        - {name: corp, links: 2, external: {asn: 64603, tenants: [blue], accept: [192.168.0.0/16, 10.0.0.0/8]}}
    overlay: {HOW}
    tenants: [{name: red, servers: [node-0001..0004]NETWORKS}, {name: blue, servers: [node-0005..0008]}]
"""
FOUR = "[0.0.0.0/0, 10.0.0.0/8, 172.16.0.0/12]"
NETWORKS = ", networks: [{name: web, gateway: 10.50.0.0/24}]"
DESIGNS = {  # → the rest of the site, what is accepted
    "ipv4": ("", FOUR),
    "ipv6": ("    underlay: {addressing: ipv6}\n    pools: {loopback6: fd00:1::/64}\n", "['::/0', 'fd00::/16']"),
    "vrf-lite": (TENANTS.replace("HOW", "isolation: vrf-lite").replace("NETWORKS", ""), FOUR),
    "evpn": (TENANTS.replace("HOW", "kind: evpn-vxlan").replace("NETWORKS", NETWORKS), FOUR),
}
EXTERNAL = (
    "10.4.0.0/16",
    "10.4.1.0/24",
    "10.6.255.255/32",
    "172.20.0.0/14",
    "10.0.0.0/8",
    "fd00:aaaa::/32",
    "0.0.0.0/0",
    "::/0",
)
SAMPLE, SEED = 12, 8


@cache
def site(folder: Path, nos: str, design: str) -> list[tuple[SwitchView, Facts]]:
    """The border leaves, and what was read of their files."""
    return [one for one in rendered(folder, nos, design) if one[0].externals]


def rendered(folder: Path, nos: str, design: str) -> list[tuple[SwitchView, Facts]]:
    """Every switch, and what was read of its files."""
    rest, accept = DESIGNS[design]
    switch = "7050cx3-32s" if nos == "sonic" else "32x100g"
    file = folder / f"{nos}-{design}.yaml"
    file.write_text(SITE.replace("NOS", nos).replace("SWITCH", switch).replace("ACCEPT", accept) + rest)
    intent = pipeline.load(file)
    renderer = pipeline.render(pipeline.plan(intent), intent)
    found = []
    for job in renderer.jobs(lambda name: True):
        view = renderer.views[job.fabric].of(job.device)
        files = {path.rpartition("/")[2]: data.decode() for path, data in renderer.files(job)}
        found.append((view, read_device(job.device.name, nos, files)))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("outside")


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("nos", SYSTEMS)
def test_no_own_prefix_is_accepted_from_outside(folder: Path, nos: str, design: str) -> None:
    chance, judged = random.Random(SEED), 0
    for view, facts in site(folder, nos, design):
        for external, policy in _incoming(view, facts):
            for one in external.own:
                for net in _inside(one.net, chance):
                    assert not accepts(facts, policy, net), (external.peer, str(net), one.what)
                    judged += 1
    assert judged > 4 * SAMPLE


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("nos", SYSTEMS)
def test_what_is_not_the_sites_own_is_accepted(folder: Path, nos: str, design: str) -> None:
    for view, facts in site(folder, nos, design):
        for external, policy in _incoming(view, facts):
            nets = [ip_network(text) for text in EXTERNAL]
            right = [str(net) for net in nets if _wanted(external, net)]
            assert [str(net) for net in nets if accepts(facts, policy, net)] == right
            assert len(right) >= 2


@pytest.mark.parametrize("nos", SYSTEMS)
def test_a_border_leaf_passes_on_its_own_alone(folder: Path, nos: str) -> None:
    """What it sends to the fabric: its aggregate and its loopback, and routes from outside, but no others of the site."""
    view, facts = site(folder, nos, "ipv4")[0]
    end = next(iter(sessions_of(view)))
    policy = facts.bgp[""].neighbors[end.peer].export_filter
    assert policy is not None
    own = [view.loopback, *view.aggregates]
    others = ["10.0.0.99/32", "10.128.0.0/31", "10.129.0.0/26", "10.64.0.0/31"]
    assert [text for text in [*own, *others, "10.4.0.0/16"] if accepts(facts, policy.value, ip_network(text))] == [
        *own,
        "10.4.0.0/16",
    ]


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("nos", SYSTEMS)
def test_no_route_of_one_router_is_sent_to_another(folder: Path, nos: str, design: str) -> None:
    for view, facts in site(folder, nos, design):
        for end in (end for end in sessions_of(view) if end.kind == OUTSIDE):
            policy = facts.bgp[end.vrf].neighbors[end.peer].export_filter
            assert policy is not None
            loopbacks = (view.loopback, *([view.loopback6] if view.loopback6 else []))
            sent = [text for text in (*EXTERNAL, *loopbacks) if accepts(facts, policy.value, ip_network(text))]
            assert sent == [], end.shown


@pytest.mark.parametrize("design", ["ipv4", "vrf-lite"])
@pytest.mark.parametrize("nos", SYSTEMS)
def test_files_without_the_denials_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nos: str, design: str) -> None:
    """Without a plan by what the files say of each other, with it as entries or terms that are missing."""
    switches = rendered(tmp_path, nos, design)
    assert _reported(switches, nos) == set()
    neutral._guarded.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(neutral, "denied", lambda own, accepts: ())
        bare = rendered(tmp_path, nos, design)
    neutral._guarded.cache_clear()
    assert {"front-leaf001", "front-leaf002"} == _reported(bare, nos)
    wanted = {"FAB280", "FAB296"} if nos == "junos" else {"FAB280"}  # Junos: a list and a term
    for (view, right), (_, wrong) in zip(switches, bare, strict=True):
        assert [finding for finding in judge(view, right, right.texts) if finding.severity == "error"] == []
        found = {finding.id for finding in judge(view, wrong, wrong.texts) if finding.severity == "error"}
        assert found == (wanted if view.externals else set())


def _reported(switches: Sequence[tuple[SwitchView, Facts]], nos: str) -> set[str]:
    check = next(check for check in checks(FilesCheck) if check.id == "FAB2522")
    return {finding.device for finding in check.run(Network(tuple(facts for _, facts in switches)))}


def _incoming(view: SwitchView, facts: Facts) -> list[tuple[External, str]]:
    found = []
    ends = [end for end in sessions_of(view) if end.kind == OUTSIDE]
    for external, end in zip(view.externals, ends, strict=True):
        policy = facts.bgp[end.vrf].neighbors[end.peer].import_filter
        assert policy is not None, end.shown
        found.append((external, policy.value))
    return found


def _wanted(external: External, net: IPv4Network | IPv6Network) -> bool:
    """A default route where it is named, else what lies in an accepted prefix and in none of the site's."""
    if net.prefixlen == 0:
        return str(net) in external.accepts
    return any(_holds(ip_network(text), net) for text in external.accepts if not text.endswith("/0")) and not any(
        _holds(one.net, net) for one in external.own
    )


def _holds(net: IPv4Network | IPv6Network, other: IPv4Network | IPv6Network) -> bool:
    return net.version == other.version and net.prefixlen <= other.prefixlen and net.overlaps(other)


def _inside(net: IPv4Network | IPv6Network, chance: random.Random) -> list[IPv4Network | IPv6Network]:
    """The prefix, its ends, and more specific ones at random."""
    most = net.max_prefixlen
    found = [net, ip_network((net[0], most)), ip_network((net[-1], most))]
    for _ in range(SAMPLE):
        length = chance.randint(net.prefixlen, most)
        found.append(ip_network((int(net[0]) + chance.randrange(net.num_addresses), most)).supernet(new_prefix=length))
    return found


def accepts(facts: Facts, policy: str, net: IPv4Network | IPv6Network) -> bool:
    """Whether a route without communities passes a policy, or a prefix list in its place."""
    if policy in facts.rules:
        return _passes(facts, policy, net)
    for term in facts.terms[policy]:
        clause = term.value
        if clause.narrowed:
            continue  # asks for a community or an AS path
        if not clause.lists or any(_passes(facts, name, net) for name in clause.lists):
            return clause.permits
    return False


def _passes(facts: Facts, name: str, net: IPv4Network | IPv6Network) -> bool:
    rules = facts.rules[name]
    if facts.nos == "junos":
        rules = sorted(rules, key=lambda rule: -int(rule.value.text.split()[0].partition("/")[2]))
    else:
        assert [rule.value.seq for rule in rules] == sorted({rule.value.seq for rule in rules}, key=lambda seq: seq or 0)
    return next((rule.value.permits for rule in rules if _matches(rule, net)), False)


def _matches(rule: Located[PrefixRule], net: IPv4Network | IPv6Network) -> bool:
    text, *words = rule.value.text.split()
    bounds = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    own = ip_network(text)
    low = bounds.get("ge", own.prefixlen)
    high = bounds.get("le", own.max_prefixlen if "ge" in bounds else own.prefixlen)
    return _holds(own, net) and low <= net.prefixlen <= high
