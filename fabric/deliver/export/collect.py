"""How to collect the state of a site for `fabric verify`: an SSH loop, an Ansible playbook and a Nornir script.

The commands are data, `collect.yaml` in the package of each network OS, and only show. The scripts are the text files beside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from shlex import quote
from typing import Any, Literal

from fabric.base.formats import json_text, model_of, yaml
from fabric.hardware.catalog.models import Record
from fabric.model.plan import Device, FabricPlan, Plan
from fabric.nos.target import installed

HERE = Path(__file__).parent


class Command(Record):
    """One command, the file that it is kept in, and the kinds of state that it shows."""

    file: str
    command: str
    kinds: tuple[str, ...]


class Recipe(Record):
    """The commands of a network OS, and whether they are typed at its own prompt or in a Linux shell."""

    shell: Literal["cli", "linux"]
    commands: tuple[Command, ...]


@cache
def recipe(nos: str) -> Recipe | None:
    """None for a network OS whose state is not collected."""
    known = installed(nos)
    path = known.collect if known is not None else None
    return model_of(Recipe, yaml.read(path)) if path is not None else None


def collect(plan: Plan) -> Mapping[str, str]:
    """`collect.sh`, `collect.yml` for Ansible, `collect.py` for Nornir with `commands.json`."""
    systems = sorted({device.nos for fabric in plan.fabrics.values() for device in fabric.switches if device.nos})
    recipes = {nos: recipe_ for nos in systems if (recipe_ := recipe(nos)) is not None}
    commands = {nos: {one.file: one.command for one in recipe_.commands} for nos, recipe_ in recipes.items()}
    return {
        "collect.sh": _shell(plan, recipes),
        "collect.yml": _playbook(plan, recipes),
        "collect.py": (HERE / "collect_nornir.txt").read_text(encoding="utf-8"),
        "commands.json": json_text(commands, ensure_ascii=False) + "\n",
    }


def _shell(plan: Plan, recipes: Mapping[str, Recipe]) -> str:
    lines = [(HERE / "collect_shell.txt").read_text(encoding="utf-8").format(site=plan.site)]
    for nos, commands in recipes.items():
        lines.append(f"{nos}() {{ # switch, address")
        lines += [f'    show "$1" "$2" {quote(one.file)} {quote(one.command)}' for one in commands.commands]
        lines.append("}")
    for fabric in plan.fabrics.values():
        for device in _switches(fabric, recipes):
            address = ip_address(int(fabric.management[device.index]))
            lines.append(f"{device.nos} {quote(device.name)} {address}")
    return "\n".join(lines) + "\n"


def _switches(fabric: FabricPlan, recipes: Mapping[str, Recipe]) -> Iterable[Device]:
    return (device for device in fabric.switches if device.nos in recipes)


def _playbook(plan: Plan, recipes: Mapping[str, Recipe]) -> str:
    """A play for each network OS, on the groups of `fabric export ansible`."""
    plays = [_play(nos, found) for nos, found in recipes.items()]
    head = f"# Site {plan.site}: ansible-playbook -i inventory.yml collect.yml -e state=state\n"
    if any(found.shell == "cli" for found in recipes.values()):
        head += "# Needs the collection ansible.netcommon and that of the network OS.\n"
    return head + _indented(yaml.dump_all([plays]))


def _indented(text: str) -> str:
    """Lists further to the right than their keys, as ansible-lint expects them."""
    lines: list[str] = []
    lists: list[int] = []  # indentation of each list that a line is in
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip(" "))
        while lists and line and (indent < lists[-1] or (indent == lists[-1] and not line.lstrip(" ").startswith("- "))):
            lists.pop()
        key = lines[-1] if lines else ""
        if line[indent:].startswith("- ") and key.endswith(":") and (not lists or lists[-1] < indent):
            lists.append(indent)
        lines.append("  " * len(lists) + line if line else line)
    return "\n".join(lines) + "\n"


def _play(nos: str, recipe: Recipe) -> dict[str, Any]:
    rows = [{"file": one.file, "command": one.command} for one in recipe.commands]
    module = "ansible.netcommon.cli_command" if recipe.shell == "cli" else "ansible.builtin.shell"
    argument = {"command": "{{ item.command }}"} if recipe.shell == "cli" else {"cmd": "{{ item.command }}"}
    show: dict[str, Any] = {
        "name": "Show",
        module: argument,
        "loop": "{{ commands }}",
        "register": "shown",
        "changed_when": False,
        "failed_when": False,
    }
    folder: dict[str, Any] = {
        "name": "Make the folder",
        "ansible.builtin.file": {
            "path": "{{ state | default('state') }}/{{ inventory_hostname }}",
            "state": "directory",
            "mode": "0755",
        },
        "delegate_to": "localhost",
    }
    keep: dict[str, Any] = {
        "name": "Keep",
        "ansible.builtin.copy": {
            "content": "{{ item.stdout | default(item.msg | default('')) }}\n",
            "dest": "{{ state | default('state') }}/{{ inventory_hostname }}/{{ item.item.file }}",
            "mode": "0644",
        },
        "loop": "{{ shown.results }}",
        "loop_control": {"label": "{{ item.item.file }}"},
        "delegate_to": "localhost",
    }
    return {
        "name": f"State of {nos}",
        "hosts": f"nos_{nos}",
        "gather_facts": False,
        "vars": {"commands": rows},
        "tasks": [show, folder, keep],
    }
