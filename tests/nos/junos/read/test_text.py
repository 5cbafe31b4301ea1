"""Curly braces, `set` lines and what stands between them; groups and ranges of interfaces."""

from __future__ import annotations

import pytest

from fabric.model.facts import Located
from fabric.nos.junos.read.device import read
from fabric.nos.junos.read.tree import Config, read_text
from tests.nos.junos.read.helpers import FILE, configured, facts

FORMS = {
    "braces": """\
system { host-name leaf1; }
interfaces {
    et-0/0/1 { mtu 9216; unit 0 { family inet { mtu 9100; address 10.0.0.0/31; } } }
}
""",
    "set lines": """\
set system host-name leaf1

set interfaces et-0/0/1 mtu 9216
set interfaces et-0/0/1 unit 0 family inet mtu 9100
set interfaces et-0/0/1 unit 0 family inet address 10.0.0.0/31
""",
    "both": """\
system {
    host-name leaf1;
}
set interfaces et-0/0/1 mtu 9216
interfaces {
    et-0/0/1 {
        unit 0
        {
            family inet {
                mtu 9100; address 10.0.0.0/31;
            }
        }
    }
}
""",
    "copied from a terminal": """\
{master:0}[edit]
admin@leaf1> show configuration | display set
set system host-name leaf1
[edit interfaces]
admin@leaf1# set interfaces et-0/0/1 mtu 9216
set interfaces et-0/0/1 unit 0 family inet mtu 9100 ;
set interfaces et-0/0/1 unit 0 family inet address 10.0.0.0/31
""",
    "comments": """\
!RANCID-CONTENT-TYPE: juniper
## Last commit: today { by admin
system { /* host-name spine1;
            host-name spine2; */
    host-name "leaf1"; # host-name spine3;
}
interfaces { et-0/0/1 { mtu 9216; unit 0 { family inet { mtu 9100; address 10.0.0.0/31; } } } }
""",
    "what is not in force": """\
set system host-name leaf1
set interfaces et-0/0/1 mtu 9000
set interfaces et-0/0/1 mtu 9216
set interfaces et-0/0/2 mtu 9216
deactivate interfaces et-0/0/2
deactivate interfaces et-0/0/1
activate interfaces et-0/0/1
set interfaces et-0/0/1 disable
delete interfaces et-0/0/1 disable
interfaces {
    inactive: et-0/0/3 { mtu 9000; }
    et-0/0/1 {
        inactive: mtu 1500;
        replace: unit 0 { family inet { mtu 9100; address 10.0.0.0/31; } }
    }
    et-0/0/4 { disable; }
    delete: et-0/0/4;
}
""",
    "repeated": """\
set interfaces et-0/0/1 mtu 9216
set interfaces et-0/0/1 mtu 9000
set interfaces et-0/0/1 mtu 9216
set interfaces et-0/0/1 unit 0 family inet mtu 9100
set interfaces et-0/0/1 unit 0 family inet address 10.0.0.0/31
set system host-name leaf1
""",
}
LINES = {  # of host-name, mtu, family's mtu, address
    "braces": (1, 3, 3, 3),
    "set lines": (1, 3, 4, 5),
    "both": (2, 4, 10, 10),
    "copied from a terminal": (3, 5, 6, 7),
    "comments": (5, 7, 7, 7),
    "what is not in force": (1, 3, 14, 14),
    "repeated": (6, 3, 4, 5),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str) -> None:
    found = facts(FORMS[form])
    name, frame, mtu, address = LINES[form]
    port = found.interfaces["et-0/0/1"]
    assert found.hostname == Located("leaf1", name, FILE)
    assert (port.frame, port.mtu) == (Located(9216, frame, FILE), Located(9100, mtu, FILE))
    assert port.addresses == [Located("10.0.0.0/31", address, FILE)]
    assert (list(found.interfaces), found.unread, found.broken) == (["et-0/0/1"], [], [])


def test_later_files_overwrite_earlier_ones() -> None:
    found = read("device", {"a.conf": "system { host-name a; }", "b.conf": "\nset system host-name b"})
    assert found.hostname == Located("b", 2, "b.conf")
    assert (found.name, found.files, found.statements) == ("b", ("a.conf", "b.conf"), 2)


@pytest.mark.parametrize(
    "text",
    [
        "policy-options { community X members [ 1:1 2:2 ]; }",
        "policy-options { community X members [1:1 2:2]; }",
        "policy-options { community X members [\n 1:1\n 2:2 ]; }",
        "set policy-options community X members [ 1:1 2:2 ]",
        "set policy-options community X members 1:1\nset policy-options community X members 2:2",
        "policy-options { community X { members [ 1:1 ]; members 2:2; } }",
    ],
)
def test_lists(text: str) -> None:
    config = Config()
    read_text(config, FILE, text)
    assert list(config.root.at("policy-options", "community", "X", "members")) == ["1:1", "2:2"]
    assert config.broken == []


GROUPS = """\
groups {
    FABRIC {
        interfaces { <et-*> { mtu 9216; unit <*> { family inet { mtu 9100; } } } irb { unit 7 { description new; } } }
        protocols { bgp { group <*> { hold-time 9; neighbor <10.*> { peer-as 65001; } } } }
        apply-groups LOGIN;
    }
    LOGIN { system { host-name leaf1; name-server 10.0.0.1; } interfaces { et-0/0/1 { description far; } } }
    UNUSED { system { host-name never; services { telnet; } radius-server 10.0.0.9 secret abc; } }
    NODE { when { peers x; } system { host-name never; } }
}
apply-groups [ FABRIC NODE "${node}" LOST ];
interfaces {
    et-0/0/1 { unit 0 { family inet { address 10.0.0.0/31; } } }
    et-0/0/2 { mtu 9000; unit 0 { apply-groups-except FABRIC; family inet { address 10.0.0.2/31; } } }
    xe-0/0/3 { unit 0 { family inet { address 10.0.0.4/31; } } }
    interface-range SERVERS {
        member-range et-0/0/10 to et-0/0/11;
        member "et-0/0/[12-13]";
        mtu 1514;
        description server;
    }
    et-0/0/11 { description mine; }
}
protocols { bgp { group A { type external; neighbor 10.0.0.1; neighbor 2001:db8::1 { peer-as 65002; } } } }
"""


def test_groups_and_ranges() -> None:
    found = facts(GROUPS)
    ports = {name: configured(port) for name, port in found.interfaces.items()}
    assert found.hostname == Located("leaf1", 7, FILE)
    assert ports["et-0/0/1"] == {
        "name": "et-0/0/1", "line": 13, "description": ("far", 7), "addresses": [("10.0.0.0/31", 13)],
        "frame": (9216, 3), "mtu": (9100, 3),
    }  # fmt: skip
    assert (ports["et-0/0/2"]["frame"], ports["et-0/0/2"]["mtu"]) == ((9000, 14), (8986, 14))
    assert "mtu" not in ports["xe-0/0/3"]
    assert ports["et-0/0/10"] == {
        "name": "et-0/0/10", "line": 17, "description": ("server", 20), "frame": (1514, 19), "mtu": (1500, 19),
    }  # fmt: skip
    assert (ports["et-0/0/11"]["description"], ports["et-0/0/11"]["line"]) == (("mine", 22), 22)
    assert (ports["et-0/0/13"]["line"], ports["irb.7"]["description"]) == (18, ("new", 3))
    neighbors = found.bgp[""].neighbors
    assert neighbors["10.0.0.1"].remote_as == Located(65001, 4, FILE)
    assert neighbors["2001:db8::1"].remote_as == Located(65002, 24, FILE)
    assert neighbors["2001:db8::1"].hold_s == Located(9, 4, FILE)
    assert configured(found.unread) == [("apply-groups NODE", 11), ("apply-groups ${node}", 11)]
    assert found.services.plain_text == []
    assert [(one.value.what, one.line) for one in found.services.secrets] == [("RADIUS secret of 10.0.0.9", 8)]


def test_groups_that_name_each_other() -> None:
    text = "groups { A { apply-groups B; system { host-name a; } } B { apply-groups A; } } apply-groups B;"
    assert facts(text).hostname == Located("a", 1, FILE)


def test_a_command_as_people_type_it() -> None:
    found = facts("set interfaces et-0/0/1 mtu 9000\nset interfaces et-0/0/2 mtu 9000\ndel interfaces et-0/0/2\n")
    assert (list(found.interfaces), found.broken) == (["et-0/0/1"], [])
