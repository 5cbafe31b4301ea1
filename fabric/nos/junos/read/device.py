"""Reads a Junos config, in curly braces or in `set` lines: one tree out of either, then its parts by their own readers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fabric.model.facts import Facts
from fabric.nos.junos.read.bgp import evpn_source, read_bgp
from fabric.nos.junos.read.groups import write_out
from fabric.nos.junos.read.instances import read_instances
from fabric.nos.junos.read.interfaces import read_interfaces
from fabric.nos.junos.read.known import misplaced, unread
from fabric.nos.junos.read.policy import read_policies
from fabric.nos.junos.read.qos import read_qos
from fabric.nos.junos.read.routes import read_routes
from fabric.nos.junos.read.services import read_services, secrets
from fabric.nos.junos.read.text import Config, read_text
from fabric.nos.junos.read.tree import number
from fabric.nos.junos.read.vlans import places, read_vlans

INHERITS = re.compile("groups|interface-range")
OF_LINUX = re.compile(r"\binterface (?:lo|eth\d+)(?:\.\d+)?(?=[;\s]|$)|-interface lo\.0", re.M)  # of cRPD, a container


def read(name: str, files: Mapping[str, str]) -> Facts:
    """The facts of one switch; later files add to earlier ones and overwrite them."""
    config = Config()
    for file, text in files.items():
        read_text(config, file, text)
    config.settle()
    facts = Facts(name=name, nos="junos", files=tuple(files))
    facts.services.secrets = secrets(config)  # those in groups that are applied nowhere as well
    root = config.root
    lost = write_out(root) if any(map(INHERITS.search, files.values())) else []
    facts.hostname = root.at("system").value("host-name")
    facts.name = facts.hostname.value if facts.hostname else name
    everywhere = places(root)
    vlans = read_vlans(everywhere)
    read_interfaces(facts, root, everywhere, vlans)
    read_instances(facts, everywhere, vlans)
    read_bgp(facts, everywhere)
    read_routes(facts, everywhere)
    facts.vtep = facts.vtep or evpn_source(facts)
    facts.elsewhere = any(map(OF_LINUX.search, files.values()))
    read_qos(facts, root)
    read_policies(facts, root)
    hashing = root.at("forwarding-options")
    facts.hash_seed = number(hashing.value("enhanced-hash-key", "hash-seed") or hashing.value("hash-seed"))
    read_services(facts.services, root)
    facts.broken = config.broken + misplaced(config)
    facts.unread = config.unread + lost + unread(config)
    facts.statements = config.statements
    return facts
