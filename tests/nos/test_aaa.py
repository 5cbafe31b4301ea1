"""Logins by TACACS+, RADIUS and LDAP on every network OS: the lines, what a reader makes of them, damage, and changes."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import permutations
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

import pytest

from fabric import pipeline
from fabric.audit.checks import ERROR, site, statement_differences
from fabric.audit.diff import configs
from fabric.audit.drift.devices import commands_back
from fabric.nos.nxos.write.switch import SEARCH
from fabric.nos.reading import read_device
from fabric.nos.statements.rules import LABEL
from tests.audit.checks.damage import CHANGED, DELETED, SWAPPED, damages
from tests.audit.checks.every_line import COMMENT, FOUND, LISTED, ORDER, Judge
from tests.audit.checks.shapes import Switch
from tests.audit.diff import pairs
from tests.audit.diff.candidate import trial
from tests.nos.sonic.updater.cases import Case, judged
from tests.nos.sonic.updater.process import WHY_NOT, RealUpdater, is_there

MODELS = {
    "sonic": "sn5600",
    "cumulus": "sn5600",
    "eos": "7060x6-64pe",
    "nxos": "n9364d-gx2a",
    "junos": "qfx5240-64od",
    "frr": "64x400g",
}
SITE = """version: 1
site: dc1
{releases}management:
  vrf: {vrf}
{aaa}fabrics:
  backend:
    nos: {nos}
    servers: {{model: dgx-h100, count: 8}}
    topology: {{switch: {switch}, tiers: 2}}
"""
TACACS = "tacacs: {servers: [10.0.0.5, 10.0.0.6], timeout_s: 7}"
RADIUS = "radius: {servers: [10.0.0.7, 10.0.0.8], port: 1645}"
LDAP = 'ldap: {servers: [10.0.0.9, 10.0.0.10], base_dn: "dc=example,dc=net", bind_dn: "cn=the switch,dc=example,dc=net"}'
SETS = {  # name → lines of `aaa`
    "tacacs": (TACACS, "login: [tacacs, local]", "accounting: tacacs"),
    "radius": (RADIUS, "login: [radius, local]"),
    "radius accounting": (RADIUS, "login: [radius, local]", "accounting: radius"),
    "ldap": (LDAP, "login: [ldap, local]"),
    "all": (TACACS, RADIUS, "login: [radius, tacacs, local]", "accounting: radius"),
    "every": (TACACS, RADIUS, LDAP, "login: [ldap, radius, tacacs]"),
}
CASES = {  # network OS → sets that it takes
    "sonic": ("tacacs", "radius", "ldap"),
    "cumulus": ("tacacs", "radius accounting", "ldap"),
    "eos": ("tacacs", "all"),
    "nxos": ("tacacs", "every"),
    "junos": ("tacacs", "all"),
    "frr": ("radius accounting",),
}
EVERY = [(nos, name) for nos, names in CASES.items() for name in names]
METHODS = ("tacacs", "radius", "ldap")


@cache
def made(nos: str, lines: tuple[str, ...], vrf: bool = True, releases: str = "") -> Switch:
    """The first leaf of a site with these lines of `aaa`; none: without."""
    aaa = "".join(f"    {line}\n" for line in lines)
    text = SITE.format(
        nos=nos,
        switch=MODELS[nos],
        vrf=str(vrf).lower(),
        aaa=f"  aaa:\n{aaa}" if lines else "",
        releases=f"releases: {releases}\n" if releases else "",
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "dc1.yaml"
        path.write_text(text, encoding="utf-8")
        intent = pipeline.load(path)
        renderer = pipeline.render(pipeline.plan(intent), intent)
        job = renderer.jobs(lambda name: "leaf" in name)[0]
        files = {PurePath(file).name: data.decode() for file, data in renderer.files(job)}
        return Switch(nos, "routed", renderer.views[job.fabric].of(job.device), files)


def plain(nos: str) -> Switch:
    return made(nos, ())


# --- the lines --------------------------------------------------------------------------------------------------

LINES = {  # (network OS, set) → lines that only a switch with logins has; `{}` is its management address
    ("eos", "all"): """
        tacacs-server host 10.0.0.5 vrf MGMT timeout 7 key 0 ${TACACS_KEY}
        tacacs-server host 10.0.0.6 vrf MGMT timeout 7 key 0 ${TACACS_KEY}
        radius-server host 10.0.0.7 vrf MGMT auth-port 1645 acct-port 1646 key 0 ${RADIUS_KEY}
        radius-server host 10.0.0.8 vrf MGMT auth-port 1645 acct-port 1646 key 0 ${RADIUS_KEY}
        ip tacacs vrf MGMT source-interface Management1
        ip radius vrf MGMT source-interface Management1
        aaa group server tacacs+ TACACS
           server 10.0.0.5 vrf MGMT
           server 10.0.0.6 vrf MGMT
        aaa group server radius RADIUS
           server 10.0.0.7 vrf MGMT auth-port 1645 acct-port 1646
           server 10.0.0.8 vrf MGMT auth-port 1645 acct-port 1646
        aaa authentication login default group RADIUS group TACACS local
        aaa accounting exec default start-stop group RADIUS
        aaa accounting commands all default start-stop group RADIUS
        aaa authorization exec default group RADIUS group TACACS local
    """,
    ("nxos", "every"): """
        feature ldap
        feature tacacs+
        tacacs-server host 10.0.0.5 key 0 ${TACACS_KEY} timeout 7
        tacacs-server host 10.0.0.6 key 0 ${TACACS_KEY} timeout 7
        aaa group server tacacs+ TACACS
          server 10.0.0.5
          server 10.0.0.6
          use-vrf management
          source-interface mgmt0
        radius-server host 10.0.0.7 key 0 ${RADIUS_KEY} auth-port 1645 acct-port 1646 authentication accounting
        radius-server host 10.0.0.8 key 0 ${RADIUS_KEY} auth-port 1645 acct-port 1646 authentication accounting
        aaa group server radius RADIUS
          server 10.0.0.7
          server 10.0.0.8
          use-vrf management
          source-interface mgmt0
        ldap-server host 10.0.0.9 rootDN "cn=the switch,dc=example,dc=net" password ${LDAP_BIND_PASSWORD}
        ldap-server host 10.0.0.10 rootDN "cn=the switch,dc=example,dc=net" password ${LDAP_BIND_PASSWORD}
        ldap search-map LDAP
          userprofile attribute-name "memberOf" search-filter {SEARCH} base-DN "dc=example,dc=net"
        aaa group server ldap LDAP
          server 10.0.0.9
          server 10.0.0.10
          use-vrf management
          ldap-search-map LDAP
        aaa authentication login default group LDAP RADIUS TACACS
        no aaa authentication login default fallback error local
    """,
    ("junos", "tacacs"): """
                user remote {
                    class read-only;
                }
            authentication-order [ tacplus password ];
            tacplus-server {
                10.0.0.5 {
                    routing-instance mgmt_junos;
                    secret "${TACACS_KEY}";
                    timeout 7;
                    source-address {};
                }
                10.0.0.6 {
                    routing-instance mgmt_junos;
                    secret "${TACACS_KEY}";
                    timeout 7;
                    source-address {};
                }
            }
            accounting {
                events [ login change-log interactive-commands ];
                destination {
                    tacplus;
                }
            }
            prefix-list TACPLUS-SERVERS {
                10.0.0.5/32;
                10.0.0.6/32;
            }
                    term tacplus {
                        from {
                            source-prefix-list {
                                TACPLUS-SERVERS;
                            }
                            protocol tcp;
                            source-port 49;
                            tcp-established;
                        }
                        then {
                            accept;
                    }
    """,
    ("cumulus", "tacacs"): """
                authentication:
                  order:
                    - tacacs
                    - local
                tacacs:
                  accounting:
                    state: enabled
                  server:
                    10.0.0.5:
                      priority: 1
                      secret: '${TACACS_KEY}'
                    10.0.0.6:
                      priority: 2
                      secret: '${TACACS_KEY}'
                  source-ip: {}
                  timeout: 7
                  vrf: mgmt
    """,
    ("frr", "radius accounting"): """
        # backend-leaf001: /etc/pam_radius_auth.conf, readable by root alone
        10.0.0.7:1645 ${RADIUS_KEY} 3 {} mgmt
        10.0.0.8:1645 ${RADIUS_KEY} 3 {} mgmt
        Name: RADIUS logins
        Default: yes
        Priority: 300
        Auth-Type: Primary
        Auth-Initial:
            [success=end auth_err=die default=ignore] pam_radius_auth.so
        Auth:
            [success=end auth_err=die default=ignore] pam_radius_auth.so use_first_pass
        Session-Type: Additional
        Session:
            optional pam_radius_auth.so
    """,
}


def own_lines(switch: Switch) -> list[str]:
    """Lines that the same switch without logins has not, without their indentation."""
    without = Counter(line.strip() for text in plain(switch.nos).files.values() for line in text.split("\n"))
    out = []
    for text in switch.files.values():
        for line in (line.strip() for line in text.split("\n")):
            without[line] -= 1
            if line and without[line] < 0:
                out.append(line)
    return out


@pytest.mark.parametrize(("nos", "name"), sorted(LINES))
def test_the_lines(nos: str, name: str) -> None:
    switch = made(nos, SETS[name])
    own = (switch.view.management.address or "").partition("/")[0]
    wanted = [line.strip().replace("{}", own).replace("{SEARCH}", SEARCH) for line in LINES[nos, name].strip().split("\n")]
    marks = {"}", "!"}
    assert sorted(set(own_lines(switch)) - marks) == sorted(set(wanted) - marks)


TABLES = {
    "tacacs": {
        "AAA": {"authentication": {"login": "tacacs+,local"}, "accounting": {"login": "tacacs+"}},
        "TACPLUS": {"global": {"passkey": "${TACACS_KEY}", "src_intf": "eth0", "timeout": "7"}},
        "TACPLUS_SERVER": {
            "10.0.0.5": {"priority": "2", "tcp_port": "49", "vrf": "mgmt"},
            "10.0.0.6": {"priority": "1", "tcp_port": "49", "vrf": "mgmt"},
        },
    },
    "radius": {
        "AAA": {"authentication": {"login": "radius,local"}},
        "RADIUS": {"global": {"passkey": "${RADIUS_KEY}"}},
        "RADIUS_SERVER": {
            "10.0.0.7": {"priority": "2", "auth_port": "1645", "src_intf": "eth0", "vrf": "mgmt"},
            "10.0.0.8": {"priority": "1", "auth_port": "1645", "src_intf": "eth0", "vrf": "mgmt"},
        },
    },
    "ldap": {
        "AAA": {"authentication": {"login": "ldap,local"}},
        "LDAP": {
            "global": {
                "bind_dn": "cn=the switch,dc=example,dc=net",
                "bind_password": "${LDAP_BIND_PASSWORD}",
                "base_dn": "dc=example,dc=net",
                "port": "389",
            }
        },
        "LDAP_SERVER": {"10.0.0.9": {"priority": "2"}, "10.0.0.10": {"priority": "1"}},
    },
}


def tables(name: str) -> dict[str, dict[str, dict[str, str]]]:
    return json.loads(made("sonic", SETS[name] if name else ()).files["config_db.json"])  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", sorted(TABLES))
def test_the_tables_of_sonic(name: str) -> None:
    with_logins, without = tables(name), tables("")
    assert {table: rows for table, rows in with_logins.items() if table not in without} == TABLES[name]
    assert {table: rows for table, rows in with_logins.items() if table in without} == without


def test_releases_of_cumulus() -> None:
    """Until 5.14 the order is a mapping of numbers, and a state is `on`."""
    text = made("cumulus", SETS["tacacs"], releases='{cumulus: "5.14"}').files["startup.yaml"]
    assert "        authentication-order:\n          '1': tacacs\n          '2': local\n" in text
    assert "          accounting:\n            enable: 'on'\n" in text
    assert "order:\n            -" not in text


@pytest.mark.parametrize(("nos", "name"), EVERY)
def test_without_a_management_vrf(nos: str, name: str) -> None:
    text = "\n".join(own_lines(made(nos, SETS[name], vrf=False)))
    assert not any(word in text for word in ("vrf MGMT", "mgmt_junos", '"vrf": "mgmt"', "vrf: mgmt", " mgmt\n")), text


# --- what is read, and damage -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("nos", "name"), EVERY)
def test_what_is_read_back(nos: str, name: str) -> None:
    switch = made(nos, SETS[name])
    aaa = switch.view.management.aaa
    assert aaa is not None
    services = read_device(switch.view.device.name, nos, switch.files).services
    read = {method: sorted(one.value for one in getattr(services, method)) for method in METHODS}
    stated = {method.name: sorted(method.servers) for method in aaa.methods}
    assert read == {method: stated.get(method, []) for method in METHODS}
    assert services.login is not None
    assert services.login.value == ", ".join(aaa.order)
    assert not services.secrets


@pytest.mark.parametrize("nos", CASES)
def test_users_of_the_switch_alone_are_no_order(nos: str) -> None:
    services = read_device("leaf", nos, plain(nos).files).services
    assert services.login is None
    assert not [one for method in METHODS for one in getattr(services, method)]


def lines_of_logins(switch: Switch) -> Iterator[tuple[str, int]]:
    """(file, line from 0) of the lines that only a switch with logins has."""
    without = {file: Counter(text.split("\n")) for file, text in plain(switch.nos).files.items()}
    for file, text in switch.files.items():
        left = without.get(file, Counter[str]()).copy()
        for number, line in enumerate(text.split("\n")):
            left[line] -= 1
            if line.strip() and left[line] < 0:
                yield file, number


KINDS = (DELETED, CHANGED, SWAPPED)


@pytest.mark.parametrize(("nos", "name"), EVERY)
def test_every_line_that_is_damaged_is_found(nos: str, name: str, whole: bool) -> None:
    switch = made(nos, SETS[name])
    judge, own = Judge(switch), set(lines_of_logins(switch))
    every = [damage for damage in damages(switch) if (damage.file, damage.line) in own and damage.kind in KINDS]
    deleted = [damage for damage in every if damage.kind == DELETED]
    chance = random.Random(f"{nos} {name}")
    chosen = every if whole else [*chance.sample(deleted, 3), *chance.sample(every, 3)]
    outcomes = {damage: judge.outcome(damage) for damage in chosen}
    missed = [damage.what for damage, outcome in outcomes.items() if outcome not in (FOUND, COMMENT, LISTED, ORDER)]
    assert missed == []
    assert {outcomes[damage] for damage in chosen if damage.kind == DELETED} <= {FOUND, COMMENT}
    found = Counter(outcomes.values())
    assert found[FOUND] > found[LISTED] + found[COMMENT]


@pytest.mark.parametrize(("nos", "name"), EVERY)
def test_another_server_is_named(nos: str, name: str) -> None:
    switch = made(nos, SETS[name])
    aaa = switch.view.management.aaa
    assert aaa is not None
    first = aaa.methods[0].servers[0]
    messages = judged_files(switch, {file: text.replace(first, "10.9.9.9") for file, text in switch.files.items()})
    assert any("servers: " in message and first in message and "10.9.9.9" in message for message in messages["FAB2530"])


ORDERS = {
    "sonic": ("tacacs+,local", "local,tacacs+", "local, tacacs"),
    "cumulus": (
        "            - tacacs\n            - local\n",
        "            - local\n            - tacacs\n",
        "local, tacacs",
    ),
    "eos": ("login default group TACACS local", "login default local group TACACS", "local, tacacs"),
    "nxos": ("login default group TACACS", "login default local", "none"),
    "junos": ("[ tacplus password ]", "[ password tacplus ]", "local, tacacs"),
    "frr": ("Priority: 300", "Priority: 129", "local, radius"),
}


@pytest.mark.parametrize("nos", ORDERS)
def test_another_order_of_methods_is_named(nos: str) -> None:
    switch = made(nos, SETS["radius accounting" if nos == "frr" else "tacacs"])
    old, new, order = ORDERS[nos]
    damaged = {file: text.replace(old, new) for file, text in switch.files.items()}
    assert damaged != switch.files
    (message,) = judged_files(switch, damaged)["FAB2530"]
    assert message.endswith(f"order of login methods: expected {', '.join(switch.view.management.aaa.order)}, got {order}")  # type: ignore[union-attr]


def judged_files(switch: Switch, files: Mapping[str, str]) -> dict[str, list[str]]:
    """Code → messages of the errors of a switch."""
    facts = read_device(switch.view.device.name, switch.nos, files)
    found: dict[str, list[str]] = {}
    for finding in site.judge(switch.view, facts, files, switch.files):
        if finding.severity == ERROR:
            found.setdefault(finding.id, []).append(finding.message)
    return found


# --- secrets ----------------------------------------------------------------------------------------------------

STORED = {  # how a running config has a secret that the plan has as a reference
    "sonic": ('"passkey": "${TACACS_KEY}"', '"passkey": "hunter2"'),
    "cumulus": ("secret: '${TACACS_KEY}'", "secret: '$nvsec$4fb719e2hunter2'"),
    "eos": ("key 0 ${TACACS_KEY}", "key 7 0822hunter2"),
    "nxos": ("key 0 ${TACACS_KEY}", 'key 7 "hunter2"'),
    "junos": ('secret "${TACACS_KEY}"', 'secret "$9$hunter2"'),
    "frr": ("${RADIUS_KEY}", "hunter2"),
}


@pytest.mark.parametrize("nos", STORED)
def test_a_secret_is_compared_by_presence_and_never_shown(nos: str) -> None:
    switch = made(nos, SETS["radius accounting" if nos == "frr" else "tacacs"])
    stated, stored = STORED[nos]
    running = {file: text.replace(stated, stored) for file, text in switch.files.items()}
    assert "hunter2" in "".join(running.values())
    assert [one for one in statement_differences(nos, switch.files, running) if one.kind != LABEL] == []
    server = "10.0.0.7" if nos == "frr" else "10.0.0.5"
    changed = {file: text.replace(server, "10.9.9.9") for file, text in running.items()}
    differences = statement_differences(nos, switch.files, changed)
    facts = read_device(switch.view.device.name, nos, changed)
    shown = [str(finding) for finding in site.judge(switch.view, facts, changed, switch.files)]
    shown += [str(change) for change in commands_back(nos, switch.files, changed, differences)]
    assert shown
    assert "hunter2" not in "\n".join(shown)
    assert [secret.value.what for secret in facts.services.secrets]


# --- changes ----------------------------------------------------------------------------------------------------


def commands(nos: str, old: Switch, new: Switch) -> list[str]:
    return [line for change in configs.changes_of_files(nos, old.files, new.files) for line in change.lines]


TAKEN = {
    "eos": lambda nos, old, new, lines: trial.wrong(trial.load(nos), old, new, lines),
    "nxos": lambda nos, old, new, lines: trial.wrong(trial.load(nos), old, new, lines),
    "junos": lambda nos, old, new, lines: pairs.TRIALS[nos](old, new, lines),
    "cumulus": lambda nos, old, new, lines: pairs.TRIALS[nos](old, new, lines),
}
SWAPPED_SERVERS = (TACACS.replace("10.0.0.5, 10.0.0.6", "10.0.0.6, 10.0.0.5"), *SETS["tacacs"][1:])
REORDERED = {
    "eos": """
        aaa group server tacacs+ TACACS
           no server 10.0.0.5 vrf MGMT
           no server 10.0.0.6 vrf MGMT
           server 10.0.0.6 vrf MGMT
           server 10.0.0.5 vrf MGMT
    """,
    "nxos": """
        aaa group server tacacs+ TACACS
          no server 10.0.0.5
          no server 10.0.0.6
          server 10.0.0.6
          server 10.0.0.5
    """,
    "junos": "insert system tacplus-server 10.0.0.6 before tacplus-server 10.0.0.5",
}


@pytest.mark.parametrize("nos", REORDERED)
def test_commands_of_another_order_of_servers(nos: str) -> None:
    old, new = made(nos, SETS["tacacs"]), made(nos, SWAPPED_SERVERS)
    assert judged_files(old, new.files), "the order is compared"
    lines = [line.strip() for line in commands(nos, old, new) if line.strip() != "exit"]
    lines = [line for line in lines if not line.startswith(("insert policy-options", "delete policy", "set policy"))]
    assert sorted(lines) == sorted(line.strip() for line in REORDERED[nos].strip().split("\n"))
    assert lines[-2:] == [line.strip() for line in REORDERED[nos].strip().split("\n")][-2:]


def test_nothing_goes_while_it_is_used() -> None:
    """Methods before their groups, groups before their servers, when they go; the reverse when they come."""
    for nos in ("eos", "nxos"):
        out = commands(nos, made(nos, SETS["tacacs"]), plain(nos))
        at = [next(n for n, line in enumerate(out) if line.startswith(f"no {what}")) for what in USED]
        assert at == sorted(at), out
        come = commands(nos, plain(nos), made(nos, SETS["tacacs"]))
        at = [next(n for n, line in enumerate(come) if line.startswith(what)) for what in reversed(USED)]
        assert at == sorted(at), come


@pytest.mark.parametrize("nos", TAKEN)
def test_the_model_of_a_switch_takes_every_change(nos: str) -> None:
    """Commands between any two of these sets, typed at a model that knows nothing of the rules they are written by."""
    variants = [(), *(SETS[name] for name in CASES[nos]), SWAPPED_SERVERS]
    for one, two in permutations(variants, 2):
        old, new = made(nos, one), made(nos, two)
        (file,) = old.files
        assert not TAKEN[nos](nos, old.files[file], new.files[file], commands(nos, old, new)), (one, two)


USED = ("aaa authentication login default", "aaa group server tacacs+ TACACS", "tacacs-server host 10.0.0.5")

VARIANTS = {
    "none": (),
    "other servers": ("tacacs: {servers: [10.0.0.6, 10.0.0.4]}", "login: [local, tacacs]"),
    **{name: SETS[name] for name in ("tacacs", "radius", "ldap")},
}


@cache
def transitions() -> list[Case]:
    made_tables = {name: json.loads(made("sonic", lines).files["config_db.json"]) for name, lines in VARIANTS.items()}
    return [
        Case(f"{old} to {new}", made_tables[old], made_tables[new], drift=bool(at % 2))
        for at, (old, new) in enumerate(permutations(VARIANTS, 2))
    ]


def test_a_running_sonic_takes_every_change(whole: bool) -> None:
    found = {case.title: judged(case, Counter()) for case in transitions()[:: 1 if whole else 5]}
    assert {title: error for title, error in found.items() if error} == {}


@pytest.mark.slow
@pytest.mark.skipif(not is_there(), reason=WHY_NOT)
def test_the_updater_and_the_models_of_sonic_take_every_change() -> None:
    """Its sorter loads the database before and after each operation: all tables are valid against SONiC's YANG models."""
    with RealUpdater() as process:
        found = {case.title: judged(case, Counter(), process) for case in transitions()}
    assert {title: error for title, error in found.items() if error} == {}
