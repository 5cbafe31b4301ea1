"""Which words the change of a file is reported in."""

from __future__ import annotations

import pytest

from fabric.audit.diff.configs import change
from fabric.nos.cumulus.statements import NVUE
from fabric.nos.dialect import COMMANDS, UNIFIED
from fabric.nos.junos.statements import SET_LINES
from fabric.nos.sonic.statements import CONFIG_DB

CONFIGS = {
    "commands": ("eos", "startup-config", "hostname a\n", "hostname b\n", COMMANDS, ("hostname b",)),
    "set lines": (
        "junos",
        "juniper.conf",
        "system {\n    no-redirects;\n}\n",
        "system {\n    host-name c;\n}\n",
        SET_LINES,
        ("delete system no-redirects", "set system host-name c"),
    ),
    "frr.conf of SONiC": ("sonic", "frr.conf", "hostname a\n", "hostname b\n", COMMANDS, ("hostname b",)),
    "a table": (
        "sonic",
        "config_db.json",
        '{"PORT": {"Ethernet0": {"mtu": "9100"}}}',
        '{"PORT": {"Ethernet0": {"mtu": "9216"}}}',
        CONFIG_DB,
        ("[", '  {"op": "replace", "path": "/PORT/Ethernet0/mtu", "value": "9216"}', "]"),
    ),
    "NVUE": ("cumulus", "startup.yaml", "- set:\n    a: 1\n", "- set:\n    a: 2\n", NVUE, ("- set:", "    a: 2")),
    "any other file": ("frr", "interfaces", "a\n", "b\n", UNIFIED, ("@@ -1 +1 @@", "-a", "+b")),
    "nothing but a comment": ("eos", "startup-config", "! a\n", "! b\n", UNIFIED, ("@@ -1 +1 @@", "-! a", "+! b")),
    "nothing but blanks": (
        "sonic",
        "config_db.json",
        '{"A": 1}',
        '{"A":1}',
        UNIFIED,
        ("@@ -1 +1 @@", '-{"A": 1}', '+{"A":1}'),
    ),
    "a file that is new": ("eos", "startup-config", "", "hostname a\n", UNIFIED, ("@@ -0,0 +1 @@", "+hostname a")),
    "no JSON": ("sonic", "config_db.json", "{}", "{", UNIFIED, ("@@ -1 +1 @@", "-{}", "+{")),
    "no tables": ("sonic", "config_db.json", "{}", "[]", UNIFIED, ("@@ -1 +1 @@", "-{}", "+[]")),
    "no YAML": ("cumulus", "startup.yaml", "- set: {}\n", "- [\n", UNIFIED, ("@@ -1 +1 @@", "-- set: {}", "+- [")),
    "no braces": ("junos", "juniper.conf", "a;\n", "}\n", UNIFIED, ("@@ -1 +1 @@", "-a;", "+}")),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_change(name: str) -> None:
    nos, path, old, new, form, lines = CONFIGS[name]
    found = change(nos, path, old, new)
    assert (found.form, found.lines) == (form, lines)
