"""Logins that need no password, or that of root, as every network OS writes them."""

from __future__ import annotations

import pytest

from fabric.nos.reading import ROOT_LOGIN, read_device

ADMIN = "username admin privilege 15 role network-admin nopassword\n"
NO_PASSWORD = "user admin needs no password"
AT_CONSOLE = f"{NO_PASSWORD} at the console"
SSH_SERVER = '{"SSH_SERVER": {"POLICIES": {"permit_root_login": "%s"}}}'
CASES: dict[tuple[str, str], tuple[str, list[str], list[str]]] = {  # (network OS, file) or a name → text, open, weak
    ("eos", "console"): (ADMIN, [], [AT_CONSOLE]),
    ("eos", "remote"): (f"{ADMIN}aaa authentication policy local allow-nopassword-remote-login\n", [NO_PASSWORD], []),
    ("eos", "SSH"): (f"{ADMIN}management ssh\n   authentication empty-passwords permit\n", [NO_PASSWORD], []),
    ("eos", "secret"): ("username admin secret sha512 $6$abc\nno aaa root\naaa authentication login default local\n", [], []),
    ("eos", "none"): ("aaa authentication login default none\n", ["logins are not authenticated (default)"], []),
    ("eos", "root"): ("aaa root nopassword\n", [], ["root needs no password at the console"]),
    ("nxos", "none"): ("aaa authentication login console none\n", [], ["logins are not authenticated (console)"]),
    ("nxos", "last"): ("aaa authentication login default group TACACS local\n", [], []),
    ("junos", "allow"): ("set system services ssh root-login allow\n", [], [ROOT_LOGIN]),
    ("junos", "deny"): ("set system services ssh root-login deny-password\n", [], []),
    ("cumulus", "enabled"): ("nv set system ssh-server permit-root-login enabled\n", [], [ROOT_LOGIN]),
    ("cumulus", "key"): ("nv set system ssh-server permit-root-login prohibit-password\n", [], []),
    ("sonic", "config_db.json"): (SSH_SERVER % "yes", [], [ROOT_LOGIN]),
    ("frr", "sshd_config"): (
        "PermitRootLogin yes\nPermitRootLogin no\nPermitEmptyPasswords yes\n",
        ["logins over SSH without a password are permitted"],
        [ROOT_LOGIN],
    ),
    ("frr", "sshd.conf"): ("permitrootlogin no\nMatch Address 10.0.0.0/8\n  PermitRootLogin yes\n", [], []),
    ("frr", "shadow"): ("root:*:1::::::\nadmin::1::::::\n", [], [AT_CONSOLE]),
}


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_read(case: tuple[str, str]) -> None:
    text, open_, weak = CASES[case]
    services = read_device("x", case[0], {case[1] if case[0] in ("sonic", "frr") else "x.cfg": text}).services
    assert [fact.value for fact in services.open_logins] == open_
    assert [fact.value for fact in services.weak_logins] == weak
