"""A config_db.json in the forms in which tools print the database: facts, statements and changes are those of the tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fabric.audit.checks import statement_differences
from fabric.model.facts import Facts
from fabric.nos.reading.folder import scan
from fabric.nos.sonic.read.dump import config_db
from fabric.nos.sonic.statements import SYNTAX, tables
from tests import ROOT

FOLDER = ROOT / "generated/starter/configs/backend-leaf001"
CONFIG_DB = (FOLDER / "config_db.json").read_text(encoding="utf-8")


def rows(text: str) -> dict[str, dict[str, Any]]:
    """TABLE|key and the fields as the database has them: lists as texts, no row without a field."""
    return {
        f"{table}|{key}": {
            (f"{name}@" if isinstance(value, list) else name): ",".join(value) if isinstance(value, list) else value
            for name, value in fields.items()
        }
        or {"NULL": "NULL"}
        for table, keys in json.loads(text).items()
        for key, fields in keys.items()
    }


def redis_dump(text: str, indent: int | None = 2) -> str:
    """As `sonic-db-dump -n CONFIG_DB -y` prints it."""
    found = {key: {"expireat": 1764172800.5, "ttl": -0.001, "type": "hash", "value": row} for key, row in rows(text).items()}
    found["CONFIG_DB_INITIALIZED"] = {"expireat": 0, "ttl": -0.001, "type": "string", "value": "1"}
    return json.dumps(found, indent=indent, sort_keys=True)


FORMS = {
    "sonic-db-dump -y": redis_dump(CONFIG_DB),
    "redis-dump": redis_dump(CONFIG_DB, None),
    "rows alone": json.dumps(rows(CONFIG_DB), indent=4),
}


def values(facts: Facts) -> Mapping[str, object]:
    return {
        "hostname": facts.hostname and facts.hostname.value,
        "ports": sorted((name, port.mtu and port.mtu.value, len(port.addresses)) for name, port in facts.interfaces.items()),
        "unread": [found.value for found in facts.unread],
        "broken": facts.broken,
        "statements": facts.statements,
    }


@pytest.mark.parametrize("form", FORMS)
def test_a_dump_is_read_as_the_tables(form: str, tmp_path: Path) -> None:
    planned = {"config_db.json": CONFIG_DB}
    (tmp_path / "CONFIG_DB.json").write_text(FORMS[form])
    (device,) = scan(tmp_path).devices
    (reference,) = scan(FOLDER / "config_db.json").devices
    assert (device.name, device.nos) == ("backend-leaf001", "sonic")
    assert values(device.facts) == values(reference.facts)
    assert statement_differences("sonic", planned, device.files) == []


def test_values_are_those_of_the_tables() -> None:
    assert config_db(FORMS["sonic-db-dump -y"]) == json.loads(CONFIG_DB) == config_db(CONFIG_DB)
    assert tables(FORMS["redis-dump"]) == tables(CONFIG_DB)


def test_a_change_has_its_line() -> None:
    text = FORMS["sonic-db-dump -y"].replace('"mtu": "9216"', '"mtu": "1500"', 1)
    (line,) = [number for number, row in enumerate(text.splitlines(), 1) if '"mtu": "1500"' in row]
    (changed,) = statement_differences("sonic", {"config_db.json": CONFIG_DB}, {"x.json": text})
    assert changed.place is not None
    assert changed.place.line == line


def test_mixed_and_damaged() -> None:
    port = {"mtu": "9100"}
    mixed = {"PORT": {"Ethernet0": port}, "PORT|Ethernet4": port, "//": "a comment", "VLAN|Vlan2": {"NULL": "NULL"}}
    assert config_db(json.dumps(mixed)) == {
        "PORT": {"Ethernet0": {"mtu": "9100"}, "Ethernet4": {"mtu": "9100"}},
        "//": "a comment",
        "VLAN": {"Vlan2": {}},
    }
    found = [path for path, _ in SYNTAX.parts["config_db.json"]('{"PORT|Ethernet4": {"type": "hash", "value": {"mtu": "91"')]
    assert found == [("PORT", "Ethernet4", "mtu = 91")]
