"""Where the switches of a change are: hosts of Nornir, or the inventory that `fabric export ansible` writes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from yaml import YAMLError

from fabric.base.diagnostics import Diagnostic, InputError, Place, Report
from fabric.base.formats import yaml
from fabric.base.reading import text_of
from fabric.base.text import listed, plural
from fabric.nos.change import Session, procedure

UNUSABLE, NO_LOGIN = "FAB557", "FAB558"
USERNAME, PASSWORD, KNOWN_HOSTS = "FABRIC_USERNAME", "FABRIC_PASSWORD", "FABRIC_KNOWN_HOSTS"
KEYS = ("id_ed25519", "id_ecdsa", "id_rsa")
MAX_NAMED = 3


@dataclass(frozen=True, slots=True)
class Login:
    """How one gets in. The password is nowhere but here."""

    username: str
    password: str | None = field(repr=False)
    known_hosts: Path
    key: Path | None = None  # None: those that ssh finds


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One switch."""

    name: str
    address: str
    nos: str
    session: Session
    login: Login
    port: int = 0  # 0: the usual one

    def __str__(self) -> str:
        return f"{self.name} ({self.address}{f':{self.port}' if self.port else ''})"


def read(file: Path, systems: Mapping[str, str], environment: Mapping[str, str] = os.environ) -> dict[str, Host]:
    """The hosts of switches.

    Args:
        file: the inventory.
        systems: switch → its planned network OS.
        environment: has the credentials.

    Raises:
        InputError: the file cannot be read, lacks a switch, or states another network OS; there are no credentials.
    """
    known = dict(_entries(file))
    report, place = Report(), Place(str(file))
    if missing := sorted(set(systems) - set(known)):
        message = f"expected every switch of the change, got no {listed(missing, MAX_NAMED)}"
        report.error(UNUSABLE, place, message, "`fabric export ansible INTENT -o inventory.yml` writes all of them")
    default = environment.get(USERNAME, "")
    known_hosts = Path(environment.get(KNOWN_HOSTS) or Path.home() / ".ssh" / "known_hosts")
    found: dict[str, Host] = {}
    for name, nos in sorted(systems.items()):
        entry, how = known.get(name), procedure(nos)
        if entry is None or how is None:
            continue
        platform = str(entry.get("platform") or "")
        if platform and platform not in (nos, *how.session.platforms):
            message = f"{name}: platform: expected {' or '.join(how.session.platforms)}, got {platform}"
            report.error(UNUSABLE, place, message, "the plan has another network OS on this switch")
        login = Login(str(entry.get("username") or default), environment.get(PASSWORD) or None, known_hosts)
        address = str(entry.get("hostname") or name)
        port = entry.get("port")
        if port is not None and not (isinstance(port, int) and 0 < port < 65536):
            report.error(UNUSABLE, place, f"{name}: port: expected a number from 1 to 65535, got {port!r}")
            port = None
        found[name] = Host(name=name, address=address, nos=nos, session=how.session, login=login, port=port or 0)
    _check_logins(found.values(), environment, report)
    report.raise_errors()
    return found


def _check_logins(hosts: Iterable[Host], environment: Mapping[str, str], report: Report) -> None:
    if nameless := [host.name for host in hosts if not host.login.username]:
        message = f"expected a user name for {plural(len(nameless), 'switch', 'switches')}, got none"
        report.error(NO_LOGIN, Place("environment"), message, f"export {USERNAME}=…, or state `username` in the inventory")
    keys = any((Path.home() / ".ssh" / name).exists() for name in KEYS)
    if not (environment.get(PASSWORD) or environment.get("SSH_AUTH_SOCK") or keys):
        message = "expected a password, an SSH agent or an SSH key, got none"
        report.error(
            NO_LOGIN, Place("environment"), message, f"`ssh-add` a key, or `read -rs {PASSWORD} && export {PASSWORD}`"
        )


# --- files ------------------------------------------------------------------------------------------------------


def _entries(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Name and values of every host, by the names that Nornir has for them."""
    try:
        data = yaml.load(text_of(file, "inventory"))
    except YAMLError as error:
        raise InputError([Diagnostic(UNUSABLE, Place(str(file)), f"expected YAML: {error}")]) from error
    hosts = data["all"].get("hosts") if isinstance(data, dict) and isinstance(data.get("all"), dict) else data
    if not isinstance(hosts, dict) or not all(isinstance(value, dict | None) for value in hosts.values()):
        hint = "hosts of Nornir (`NAME: {hostname: …}`), or what `fabric export ansible` writes"
        raise InputError([Diagnostic(UNUSABLE, Place(str(file)), "expected hosts by their names", hint)])
    if hosts is not data:
        for name, values in hosts.items():
            yield str(name), _of_ansible(values or {})
        return
    yield from _of_nornir(file)


def _of_ansible(values: Mapping[str, Any]) -> dict[str, Any]:
    names = {"ansible_host": "hostname", "ansible_port": "port", "ansible_user": "username", "ansible_network_os": "platform"}
    return {ours: values[theirs] for theirs, ours in names.items() if theirs in values}


def _of_nornir(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """As Nornir reads it, with the groups and defaults beside it."""
    from nornir.plugins.inventory import SimpleInventory

    try:
        beside = [str(file.with_name(name)) for name in ("groups.yaml", "defaults.yaml")]
        inventory = SimpleInventory(str(file), *beside).load()
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError([Diagnostic(UNUSABLE, Place(str(file)), f"Nornir cannot read it: {error}")]) from error
    for name, host in inventory.hosts.items():
        yield (
            name,
            {"hostname": host.hostname, "port": host.port, "username": host.username, "platform": host.platform},
        )
