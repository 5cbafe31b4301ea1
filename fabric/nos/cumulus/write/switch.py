"""The file of a switch: NVUE's startup.yaml, built as data.

Each module beside this one builds a branch of a neutral tree; `dialect` spells it as the release does.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from fabric.model.plan import SwitchView
from fabric.nos.cumulus.write.dialect import USUAL, release, spelled
from fabric.nos.cumulus.write.interfaces import interfaces
from fabric.nos.cumulus.write.qos import qos
from fabric.nos.cumulus.write.routing import routing
from fabric.nos.cumulus.write.system import management_vrf, system
from fabric.nos.cumulus.write.tenants import tenants
from fabric.nos.cumulus.write.tree import Tree, merged
from fabric.nos.cumulus.write.yaml import dump
from fabric.nos.target import Document, File

FILE = "startup.yaml"


def tree(view: SwitchView) -> Tree:
    """The whole configuration of one switch, in the words of its release."""
    neutral = merged(interfaces(view), routing(view), tenants(view), qos(view), system(view))
    return spelled(neutral, release(view.release), management_vrf(view))


def serialized(data: Mapping[str, Any], head: str) -> str:
    """A list of one entry: what to set."""
    return f"{head}\n- set:\n{dump(data, indent=2)}"


def files(view: SwitchView) -> list[File]:
    head = f"# {view.device.name} ({view.device.model}), Cumulus Linux {view.release or USUAL}"
    return [Document(FILE, tree(view), partial(serialized, head=head))]
