"""A push from end to end: a client of the server, the tables of its system, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from fabric.diagnostics import MissingError
from fabric.inventory import nautobot, netbox
from fabric.inventory.engine import Advance, Engine, Pushed
from fabric.inventory.gather import inventory
from fabric.inventory.items import Ref, Table
from fabric.inventory.records import Inventory
from fabric.plan import Plan
from fabric.text import aligned


@dataclass(frozen=True, slots=True)
class System:
    """A source of truth."""

    title: str
    token: str  # environment variables of the token and the URL
    url: str
    tables: Callable[[Inventory], list[Table]]
    tags: Callable[[str], tuple[Ref, Ref]]
    client: Callable[[str, str], Any]  # of a URL and a token


def _pynetbox(url: str, token: str) -> Any:
    return import_module("pynetbox").api(url, token=token, threading=False)


def _pynautobot(url: str, token: str) -> Any:
    return import_module("pynautobot").api(url, token=token, retries=0, exclude_m2m=False)  # lists of VLANs and tags


SYSTEMS = {
    "netbox": System(netbox.TITLE, netbox.TOKEN, netbox.URL, netbox.netbox_tables, netbox.tags, _pynetbox),
    "nautobot": System(nautobot.TITLE, nautobot.TOKEN, nautobot.URL, nautobot.nautobot_tables, nautobot.tags, _pynautobot),
}


@dataclass(frozen=True, slots=True)
class PushRequest:
    """How to push."""

    prune: bool = False
    dry: bool = False
    batch: int = 200


DEFAULT = PushRequest()


class Push:
    """A plan that is pushed to a server."""

    def __init__(self, plan: Plan, system: System) -> None:
        self.system, self.site = system, plan.site
        self.tables = system.tables(inventory(plan))

    @property
    def size(self) -> int:
        """Objects that it is about."""
        return sum(len(table.items) for table in self.tables)

    def run(self, url: str, token: str, request: PushRequest = DEFAULT, advance: Advance | None = None) -> Pushed:
        """Fills or updates a server. Raises InputError where it refuses, MissingError where there is none or no client."""
        tag, own = self.system.tags(self.site)
        engine = Engine(_client(self.system, url, token), request.batch, request.dry, advance)
        return engine.push(self.tables, tag, own, request.prune)


def _client(system: System, url: str, token: str) -> Any:
    try:
        return system.client(url, token)
    except ImportError as error:
        hint = "pip install 'fabricwright[netbox]'"
        raise MissingError(f"{system.title} needs a client that is not installed ({error}): {hint}") from None


def lines(done: Pushed, titles: Sequence[str] = ("created", "updated", "unchanged", "deleted")) -> list[str]:
    """One line per table, and one of all."""
    rows = [(name, *(getattr(tally, title) for title in titles)) for name, tally in done.tallies.items()]
    total = ("total", *(sum(row[at] for row in rows) for at in range(1, len(titles) + 1)))
    cells = [[row[0], *(f"{number:,}" for number in row[1:])] for row in (*rows, total)]
    return aligned(cells, "<" + ">9" * len(titles), head=["", *titles])
