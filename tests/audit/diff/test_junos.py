"""Lines between two Junos configs: running, intended, what is printed; each also given to a model of the candidate."""

from __future__ import annotations

import re

import pytest

from fabric.audit.checks.statements import statement_differences
from fabric.audit.diff.configs import set_lines
from fabric.audit.drift.devices import commands_back
from fabric.nos.dialect import FLAG, NODE, UNKNOWN, VALUE, VALUES, Node
from fabric.nos.junos.statements import config, hierarchy
from tests import ROOT
from tests.audit.diff.candidate.junos import Candidate, Refused, Spec, specs

POLICY = (
    "policy-options { policy-statement P { term A { then accept; } term B { then next term; } term C { then reject; } } }"
)
TWO = """
vlans {
    V10 { vlan-id 10; vxlan { vni 100; } }
    V20 { vlan-id 20; vxlan { vni 200; } }
}
"""
INSTANCES = "routing-instances { RED { interface et-0/0/1.0; } BLUE { interface et-0/0/2.0; } }"
NEIGHBOR = "protocols { bgp { group F { import [ A B ]; neighbor 10.0.0.1 { description one; peer-as 65001; } } } }"
PORT = "interfaces { et-0/0/1 { description one; mtu 9216; unit 0 { family inet { mtu 9170; address 10.0.0.0/31; } } } }"
BREAKOUT = "interfaces { et-0/0/1 { number-of-sub-ports 4; speed 100g; } et-0/0/1:0 { mtu 9216; } et-0/0/1:1 { mtu 9216; } }"
MEMBER = "interfaces { et-0/0/1 { ether-options { 802.3ad ae1; } } }"

CASES = {
    "a value": (PORT, PORT.replace("mtu 9216", "mtu 9000"), ["set interfaces et-0/0/1 mtu 9000"]),
    "a value that goes": (PORT, PORT.replace("mtu 9216; ", ""), ["delete interfaces et-0/0/1 mtu"]),
    "an address is an element": (
        PORT,
        PORT.replace("10.0.0.0/31", "10.0.0.2/31"),
        [
            "delete interfaces et-0/0/1 unit 0 family inet address 10.0.0.0/31",
            "set interfaces et-0/0/1 unit 0 family inet address 10.0.0.2/31",
        ],
    ),
    "a container goes whole": (PORT, "interfaces { lo0; }", ["delete interfaces et-0/0/1", "set interfaces lo0"]),
    "but no hierarchy": (
        "protocols { rstp { bpdu-block-on-edge; } lldp { interface all; } } snmp { location x; }",
        "system { host-name a; }",
        ["delete protocols rstp", "delete protocols lldp", "delete snmp location", "set system host-name a"],
    ),
    "an empty node stays": (
        PORT,
        PORT.replace("mtu 9170; address 10.0.0.0/31; ", ""),
        [
            "delete interfaces et-0/0/1 unit 0 family inet mtu",
            "delete interfaces et-0/0/1 unit 0 family inet address 10.0.0.0/31",
        ],
    ),
    "the VNI of a VLAN": (TWO, TWO.replace("vni 100", "vni 101"), ["set vlans V10 vxlan vni 101"]),
    "two VLANs exchange their VNIs": (
        TWO,
        TWO.replace("vni 100", "vni 0").replace("vni 200", "vni 100").replace("vni 0", "vni 200"),
        ["set vlans V10 vxlan vni 200", "set vlans V20 vxlan vni 100"],
    ),
    "a port of another routing instance": (
        INSTANCES,
        INSTANCES.replace("interface et-0/0/1.0; ", "").replace("et-0/0/2.0;", "et-0/0/2.0; interface et-0/0/1.0;"),
        ["delete routing-instances RED interface et-0/0/1.0", "set routing-instances BLUE interface et-0/0/1.0"],
    ),
    "a port of another bond": (MEMBER, MEMBER.replace("ae1", "ae2"), ["set interfaces et-0/0/1 ether-options 802.3ad ae2"]),
    "another breakout": (
        BREAKOUT,
        BREAKOUT.replace("ports 4", "ports 2").replace("100g", "200g").replace(" et-0/0/1:1 { mtu 9216; }", ""),
        [
            "delete interfaces et-0/0/1:1",
            "set interfaces et-0/0/1 number-of-sub-ports 2",
            "set interfaces et-0/0/1 speed 200g",
        ],
    ),
    "a breakout that goes": (
        BREAKOUT,
        "interfaces { et-0/0/1 { mtu 9216; } }",
        [
            "delete interfaces et-0/0/1:0",
            "delete interfaces et-0/0/1:1",
            "delete interfaces et-0/0/1 number-of-sub-ports",
            "delete interfaces et-0/0/1 speed",
            "set interfaces et-0/0/1 mtu 9216",
        ],
    ),
    "terms in another order": (
        POLICY,
        "policy-options { policy-statement P { term C { then reject; } term A { then accept; } term B { then next term; }}}",
        ["insert policy-options policy-statement P term C before term A"],
    ),
    "a new first term": (
        POLICY,
        POLICY.replace("term A", "term N { then accept; } term A"),
        [
            "set policy-options policy-statement P term N then accept",
            "insert policy-options policy-statement P term N before term A",
        ],
    ),
    "a new last term needs no place": (
        POLICY,
        POLICY.replace("reject; }", "reject; } term N { then accept; }"),
        ["set policy-options policy-statement P term N then accept"],
    ),
    "accept for reject": (
        POLICY,
        POLICY.replace("then reject", "then accept"),
        [
            "delete policy-options policy-statement P term C then reject",
            "set policy-options policy-statement P term C then accept",
        ],
    ),
    "a value more at the end of a list": (NEIGHBOR, NEIGHBOR.replace("A B", "A B C"), ["set protocols bgp group F import C"]),
    "a value less": (NEIGHBOR, NEIGHBOR.replace("A B", "B"), ["delete protocols bgp group F import A"]),
    "a value more before the others": (
        NEIGHBOR,
        NEIGHBOR.replace("A B", "C A B"),
        ["delete protocols bgp group F import", "set protocols bgp group F import [ C A B ]"],
    ),
    "a list in another order": (
        NEIGHBOR,
        NEIGHBOR.replace("A B", "B A"),
        ["delete protocols bgp group F import", "set protocols bgp group F import [ B A ]"],
    ),
    "AS numbers": (
        f"routing-options {{ autonomous-system 65000; }} {NEIGHBOR}",
        f"routing-options {{ autonomous-system 65100; }} {NEIGHBOR.replace('65001', '65101')}",
        ["set routing-options autonomous-system 65100", "set protocols bgp group F neighbor 10.0.0.1 peer-as 65101"],
    ),
    "more than one word for a value": (
        "routing-options { autonomous-system 65000 loops 2; }",
        "routing-options { autonomous-system 65000; }",
        ["delete routing-options autonomous-system", "set routing-options autonomous-system 65000"],
    ),
    "blanks, braces and signs of the command line": (
        PORT,
        PORT.replace("description one", 'description "to {spine};x 100%"').replace("9170", "9171"),
        ['set interfaces et-0/0/1 description "to {spine};x 100%"', "set interfaces et-0/0/1 unit 0 family inet mtu 9171"],
    ),
    "a pattern": (
        "policy-options { as-path X 65000; }",
        "policy-options { as-path X ^(65001|65002)$; }",
        ['set policy-options as-path X "^(65001|65002)$"'],
    ),
    "one prefix with another length": (
        "policy-options { route-filter-list L { 10.0.0.0/8 exact; } }",
        "policy-options { route-filter-list L { 10.0.0.0/8 orlonger; } }",
        [
            "delete policy-options route-filter-list L 10.0.0.0/8 exact",
            "set policy-options route-filter-list L 10.0.0.0/8 orlonger",
        ],
    ),
    "several in one line": (
        "class-of-service { forwarding-classes { class A queue-num 3 no-loss pfc-priority 3; } }",
        "class-of-service { forwarding-classes { class A queue-num 4 pfc-priority 3; } }",
        [
            "delete class-of-service forwarding-classes class A no-loss",
            "set class-of-service forwarding-classes class A queue-num 4",
        ],
    ),
    "what is not known goes with its node": (
        PORT.replace("mtu 9216;", "accounting-profile A; mtu 9216;"),
        PORT,
        [
            "delete interfaces et-0/0/1",
            "set interfaces et-0/0/1 description one",
            "set interfaces et-0/0/1 mtu 9216",
            "set interfaces et-0/0/1 unit 0 family inet mtu 9170",
            "set interfaces et-0/0/1 unit 0 family inet address 10.0.0.0/31",
        ],
    ),
    "but not with a hierarchy": (
        "system { host-name a; max-configurations-on-flash 5; }",
        "system { host-name a; }",
        ["delete system max-configurations-on-flash"],
    ),
    "inactive": (PORT.replace("mtu 9216", "inactive: mtu 9216"), PORT, ["activate interfaces et-0/0/1 mtu"]),
    "inactive, and gone": (
        PORT.replace("mtu 9216", "inactive: mtu 9216"),
        PORT.replace("mtu 9216; ", ""),
        ["delete interfaces et-0/0/1 mtu"],
    ),
    "made inactive": (
        PORT,
        PORT.replace("unit 0", "inactive: unit 0").replace("mtu 9170; ", ""),
        ["delete interfaces et-0/0/1 unit 0 family inet mtu", "deactivate interfaces et-0/0/1 unit 0"],
    ),
    "by a group": (
        f"groups {{ G {{ system {{ host-name b; }} }} }} apply-groups G; {PORT}",
        PORT,
        ["delete groups G", "delete apply-groups"],
    ),
    "a group of another value": (
        f"groups {{ G {{ system {{ host-name b; }} }} }} apply-groups G; {PORT}",
        f"groups {{ G {{ system {{ host-name c; }} }} }} apply-groups G; {PORT}",
        ["set groups G system host-name c"],
    ),
    "a range of ports": (
        f"{PORT.replace('interfaces {', 'interfaces { interface-range R { member et-0/0/1; mtu 9000; }')}",
        PORT,
        ["delete interfaces interface-range R"],
    ),
    "a range of VLANs is one value": (
        "interfaces { ae1 { unit 0 { family ethernet-switching { vlan { members [ 10-20 30 ]; } } } } }",
        "interfaces { ae1 { unit 0 { family ethernet-switching { vlan { members [ 30 40 ]; } } } } }",
        [
            "delete interfaces ae1 unit 0 family ethernet-switching vlan members 10-20",
            "set interfaces ae1 unit 0 family ethernet-switching vlan members 40",
        ],
    ),
    "a comment": (f"/* one\n   two */\n{PORT}", PORT, []),
    "as `display set` prints it": (
        "set system host-name a\n",
        "system { host-name b; }",
        ["set system host-name b"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_lines(name: str) -> None:
    running, intended, wanted = CASES[name]
    before, after = config(running), config(intended)
    assert set_lines(before, after, hierarchy()) == wanted
    assert Candidate(running).run(wanted).state() == Candidate(intended).state()
    back = set_lines(after, before, hierarchy())
    assert Candidate(intended).run(back).state() == Candidate(running).state()


def drift(running: str, planned: str) -> list[str]:
    """The lines of `fabric drift --commands`."""
    sides = {"juniper.conf": planned}, {"juniper.conf": running}
    return [
        line for change in commands_back("junos", *sides, statement_differences("junos", *sides)) for line in change.lines
    ]


@pytest.mark.parametrize("name", CASES)
def test_lines_of_drift(name: str) -> None:
    running, planned, _ = CASES[name]
    shown, wanted = (re.sub(r"(?<=[;{}]) ", "\n", text) for text in (running, planned))  # as a device prints it
    assert Candidate(running).run(drift(shown, wanted)).state() == Candidate(planned).state()


def test_a_term_that_is_set_again_is_moved_back() -> None:
    running = config(POLICY.replace("term B {", "term B { nothing-known 1;"))
    assert set_lines(running, config(POLICY), hierarchy()) == [
        "delete policy-options policy-statement P term B",
        "set policy-options policy-statement P term B then next term",
        "insert policy-options policy-statement P term B before term C",
    ]


def test_drift_moves_a_term_that_is_empty() -> None:
    running = re.sub(r"(?<=[;{}]) ", "\n", POLICY.replace("term C { then reject; } ", "").replace("term A", "term C; term A"))
    lines = drift(running, POLICY)
    assert Candidate(running).run(lines).state() == Candidate(POLICY).state()
    assert lines[-2:] == [f"insert policy-options policy-statement P term {name} before term C" for name in "AB"]


def test_drift_keeps_what_the_device_made_of_a_secret() -> None:
    planned = 'system { login { user a { class super-user; authentication { encrypted-password "${HASH}"; } } } }'
    running = planned.replace("${HASH}", "$6$abc").replace("class super-user;", "class super-user; allow-commands x;")
    assert 'set system login user a authentication encrypted-password "$6$abc"' in drift(running, planned)


@pytest.mark.parametrize(
    ("running", "lines", "answer"),
    [
        (PORT, ["delete interfaces et-0/0/1 mtu 9216"], "without its value"),
        (PORT, ["delete interfaces et-0/0/9"], "not found"),
        (PORT, ["delete interfaces et-0/0/1 unit"], "missing argument"),
        (PORT, ["set interfaces et-0/0/1 mtu"], "missing argument"),
        (PORT, ["set interfaces et-0/0/1 nonsense"], "syntax error"),
        (PORT, ["set interfaces et-0/0/1 description a|b"], "quotation marks"),
        (NEIGHBOR, ["delete protocols bgp group F import C"], "not found"),
        (POLICY, ["insert policy-options policy-statement P term A before term Z"], "not found"),
        (PORT, ["activate interfaces et-0/0/1 mtu"], "nothing to do"),
    ],
)
def test_the_model_refuses(running: str, lines: list[str], answer: str) -> None:
    with pytest.raises(Refused, match=answer):
        Candidate(running).run(lines)


def test_the_model_finds_at_commit() -> None:
    wrong = Candidate(f"{INSTANCES.replace('0/0/2.0', '0/0/1.0')} {NEIGHBOR} {MEMBER}").check()
    assert len([line for line in wrong if "not defined" in line]) == 3
    assert "et-0/0/1.0 is in two routing instances" in wrong


def test_every_rendered_statement_is_known() -> None:
    """A statement that is not known would be deleted with all that stands beside it."""

    def unknown(node: Node, path: tuple[str, ...]) -> list[str]:
        own = [" ".join((*path, *name)) for name, child in node.below.items() if child.kind == UNKNOWN or not child.known]
        return own + [line for name, child in node.below.items() for line in unknown(child, (*path, *name))]

    found = set()
    for path in sorted((ROOT / "tests" / "golden" / "render" / "junos").glob("*.conf")):
        found |= set(unknown(hierarchy().tree(config(path.read_text(encoding="utf-8")).statements), ()))
    assert {line.split()[2] for line in found} == {"esi"}, "an identifier stands there without a name"


def test_a_damaged_config_has_no_lines() -> None:
    with pytest.raises(ValueError, match="brace"):
        config("a {\n")


def test_the_data_agrees_with_the_models() -> None:
    """Every node of the models that the data has, is what they say."""
    kinds = {"leaf": VALUE, "leaf-list": VALUES, "empty": FLAG, "list": NODE}
    compared, wrong = 0, []
    for path, spec in paths():
        if spec.kind not in kinds:
            continue
        node = hierarchy().tree([sample(path, {**dict(paths())})])
        while node.below:
            node = next(iter(node.below.values()))
        if node.kind != UNKNOWN:
            compared += 1
            wrong += [path] if node.kind != kinds[spec.kind] else []
    assert wrong == ["policy-options/policy-statement/term/then/next-hop/self"], "a case of a choice, replaced as a value is"
    assert compared > 450


def paths() -> list[tuple[str, Spec]]:
    return [child for children in specs().values() for child in children.values() if child[0] not in ("", "groups")]


def sample(path: str, spec_of: dict[str, Spec]) -> tuple[str, ...]:
    """Words of a statement of a node."""
    words: list[str] = []
    names = path.split("/")
    for at, name in enumerate(names, 1):
        spec = spec_of["/".join(names[:at])]
        words += [] if name.startswith("<") else [name]
        for key in spec.keys:
            words += (
                [key[1:], "X"]
                if key[0] == "="
                else []
                if key == "choice-value"
                else [IDENTS.get(name, "X") if key == "choice-ident" else "X"]
            )
        words += ["X"] if spec.kind in ("leaf", "leaf-list") else []
    return tuple(words)


IDENTS = {"community": "add", "route-filter": "exact", "<rf_list>": "exact"}
