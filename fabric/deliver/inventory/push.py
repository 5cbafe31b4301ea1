"""A push from end to end: a client of the server, the tables of its system, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from fabric.base.diagnostics import Diagnostic, InputError, MissingError, Place
from fabric.base.reading import UnreadableError, guarded
from fabric.base.text import aligned
from fabric.deliver.inventory import nautobot, netbox
from fabric.deliver.inventory.engine import Advance, Engine, Pushed
from fabric.deliver.inventory.gather import inventory
from fabric.deliver.inventory.records import Inventory, Ref, Table
from fabric.model.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
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
    "netbox": System(
        title=netbox.TITLE,
        token=netbox.TOKEN,
        url=netbox.URL,
        tables=netbox.netbox_tables,
        tags=netbox.tags,
        client=_pynetbox,
    ),
    "nautobot": System(
        title=nautobot.TITLE,
        token=nautobot.TOKEN,
        url=nautobot.URL,
        tables=nautobot.nautobot_tables,
        tags=nautobot.tags,
        client=_pynautobot,
    ),
}


@dataclass(frozen=True, slots=True)
class PushRequest:
    """How to push."""

    prune: bool = False
    dry: bool = False
    batch: int = 200


DEFAULT = PushRequest()
MAX_PAGES, MAX_SAME = 10_000, 3  # pages of one listing, of 1,000 objects each; requests of one page in a row


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
        tag, site_tag = self.system.tags(self.site)
        engine = Engine(client_of(self.system, url, token), request.batch, request.dry, advance)
        try:
            with guarded(url):
                return engine.push(self.tables, tag, site_tag, request.prune)
        except UnreadableError as error:
            message = f"the answer of the server {error}"
            hint = f"is this the URL of {self.system.title}, in a release that its client supports?"
            raise InputError([Diagnostic("FAB177", Place(url), message, hint)]) from error


class _Pages:
    """The pages that a client asks for one after the other: the answers name the next one, and might do so for ever."""

    def __init__(self) -> None:
        self.listing, self.last, self.same, self.pages = "", "", 0, 0

    def follow(self, response: Any, *_: Any, **__: Any) -> None:
        """Raises UnreadableError where a page is asked for again and again, or a listing has too many."""
        url = f"{response.request.method} {response.request.url}"
        listing = re.sub(r"[?&]offset=\d+", "", url)
        self.pages = self.pages + 1 if listing == self.listing else 1
        self.same = self.same + 1 if url == self.last else 1
        self.listing, self.last = listing, url
        if url.startswith("GET ") and (self.same > MAX_SAME or self.pages > MAX_PAGES):
            raise UnreadableError(f"its pages have no end: {response.request.url[:200]}")


def client_of(system: System, url: str, token: str) -> Any:
    try:
        client = system.client(url, token)
        client.http_session.hooks["response"].append(_Pages().follow)
        return client
    except ImportError as error:
        hint = "pip install 'fabricwright[netbox]'"
        raise MissingError(f"{system.title} needs a client that is not installed ({error}): {hint}") from None


def lines(done: Pushed, titles: Sequence[str] = ("created", "updated", "unchanged", "deleted")) -> list[str]:
    """One line per table, and one of all."""
    rows = [(name, *(getattr(tally, title) for title in titles)) for name, tally in done.tallies.items()]
    total = ("total", *(sum(row[at] for row in rows) for at in range(1, len(titles) + 1)))
    cells = [[row[0], *(f"{number:,}" for number in row[1:])] for row in (*rows, total)]
    return aligned(cells, "<" + ">9" * len(titles), head=["", *titles])
