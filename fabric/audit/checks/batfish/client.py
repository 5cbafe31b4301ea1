"""What Batfish sees of each network OS, what it is asked, and the server that answers."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from fabric.base.diagnostics import MissingError
from fabric.model.plan import SwitchView, Vrf
from fabric.nos.batfish import BatfishView, Limit
from fabric.nos.target import installed

# --- visibility -----------------------------------------------------------------------------------------------


@cache
def view_of(nos: str) -> BatfishView | None:
    """None for a network OS that Batfish reads no copy of."""
    known = installed(nos)
    return known.batfish.get() if known is not None and known.batfish is not None else None


def is_modeled(nos: str, what: str) -> bool:
    """Whether Batfish models something of a network OS, in most designs."""
    found = view_of(nos)
    return found is not None and what in found.sees


def is_modeled_on(view: SwitchView, what: str, vrf: Vrf | None = None) -> bool:
    """Whether Batfish models something of a switch, or of one tenant's table on it."""
    return is_modeled(view.device.nos, what) and not any(
        what in limit.unseen and (vrf is None or limit.of_vrf(vrf)) for limit in limits_of(view)
    )


def limits_of(view: SwitchView) -> Iterable[Limit]:
    """The limits that the design of a switch runs into."""
    found = view_of(view.device.nos)
    return (limit for limit in found.limits if limit.of_switch(view)) if found is not None else ()


def vrf_name(nos: str, tenant: str) -> str:
    """A routing table as Batfish names it."""
    found = view_of(nos)
    return (found.vrf if found is not None else "{}").format(tenant) if tenant else "default"


PORT = 9996
EPHEMERAL_PORTS = "49152-65535"  # of a packet to a service (RFC 6335)
REACH_S = 3  # limit for a server to accept a connection
ANSWER_S = 900  # limit for the answer to one question
Row: TypeAlias = dict[str, Any]
Rows: TypeAlias = list[Row]


class Unanswered(Exception):
    """Batfish was asked and did not answer; says why in one line."""


class Answers(Protocol):
    """The questions of the checks; `start` is a location, `sources` and `targets` are address lists, spelled for Batfish."""

    def file_status(self) -> Rows: ...

    def init_issues(self) -> Rows: ...

    def undefined(self) -> Rows: ...

    def owners(self) -> Rows:
        """Addresses with more than one owner."""

    def sessions(self) -> Rows: ...

    def compatibility(self) -> Rows:
        """Sessions, and whether the far end has one that fits."""

    def routes(self, nodes: Sequence[str]) -> Rows:
        """BGP routes in the forwarding tables of some nodes, one row per next hop."""

    def reachability(self, start: str, sources: str, targets: str) -> Rows:
        """Flows that arrive."""

    def lost(self, start: str, sources: str, targets: str) -> Rows:
        """Flows that do not arrive."""

    def differential(self, node: str, start: str, sources: str, targets: str) -> Rows:
        """Flows that arrive, and do not once a node is down."""

    def loops(self) -> Rows: ...

    def every_route(self, nodes: Sequence[str]) -> Rows:
        """Routes of every protocol in the forwarding tables of some nodes, one row per next hop."""

    def filters(self, nodes: Sequence[str]) -> Rows:
        """The packet filters of every interface of some nodes."""

    def filtered(self, node: str, name: str, action: str, flow: Flow) -> Rows:
        """A packet that a filter permits or denies (`action`), if there is one."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Packets that a filter is asked about; `protocol` "" is any, and `port` 0 with it."""

    protocol: str
    sources: str
    targets: str
    port: int

    def __str__(self) -> str:
        return " ".join(filter(None, (self.protocol, self.sources, self.targets, str(self.port or ""))))


def address(host: str) -> tuple[str, int]:
    """`HOST` or `HOST:PORT`."""
    name, colon, port = host.rpartition(":")
    return (name, int(port)) if colon and port.isdigit() and ":" not in name else (host, PORT)


class Server:
    """A Batfish server with one snapshot. Raises MissingError where there is none, or no client for it."""

    def __init__(self, host: str, network: str) -> None:
        name, port = address(host)
        try:
            from pybatfish.client.session import Session
        except ImportError as error:
            raise MissingError("the Batfish client is not installed: run `pip install 'fabricwright[batfish]'`") from error
        try:
            socket.create_connection((name, port), REACH_S).close()
        except OSError as error:
            why = error.strerror or str(error) or type(error).__name__
            raise MissingError(f"no Batfish server answers at {name}:{port}: {why}") from error
        _quiet()
        try:
            self._ask(lambda: self._open(Session, name, port, network))
        except Unanswered as error:
            raise MissingError(f"the server at {name}:{port} is not a Batfish server: {error}") from error

    def _open(self, session: Any, name: str, port: int, network: str) -> None:
        self.session = session(host=name, port=port, timeout=ANSWER_S)
        self.network = self.session.set_network(network)

    def upload(self, folder: Path) -> None:
        """Takes the snapshot in a folder; Batfish parses it now."""
        self._ask(lambda: self.session.init_snapshot(str(folder), name="whole", overwrite=True))

    def close(self) -> None:
        """Leaves nothing behind on the server, as far as it still answers."""
        with suppress(Unanswered):
            self._ask(lambda: self.session.delete_network(self.network))

    def file_status(self) -> Rows:
        return self._rows("fileParseStatus")

    def init_issues(self) -> Rows:
        return self._rows("initIssues")

    def undefined(self) -> Rows:
        return self._rows("undefinedReferences")

    def owners(self) -> Rows:
        return self._rows("ipOwners", duplicatesOnly=True)

    def sessions(self) -> Rows:
        return self._rows("bgpSessionStatus")

    def compatibility(self) -> Rows:
        return self._rows("bgpSessionCompatibility")

    def routes(self, nodes: Sequence[str]) -> Rows:
        return self._rows("routes", nodes=_named(nodes), protocols="bgp")

    def reachability(self, start: str, sources: str, targets: str) -> Rows:
        return self._rows("reachability", actions="ACCEPTED,DELIVERED_TO_SUBNET", **_flows(start, sources, targets))

    def lost(self, start: str, sources: str, targets: str) -> Rows:
        return self._rows("reachability", actions="FAILURE", **_flows(start, sources, targets))

    def differential(self, node: str, start: str, sources: str, targets: str) -> Rows:
        name = f"without-{node}"
        self._ask(lambda: self.session.fork_snapshot("whole", name, deactivate_nodes=[node], overwrite=True))
        try:
            flows = _flows(start, sources, targets)
            return self._rows("differentialReachability", name, "whole", actions="SUCCESS", **flows)
        finally:
            with suppress(Unanswered):
                self._ask(lambda: self.session.delete_snapshot(name))

    def loops(self) -> Rows:
        return self._rows("detectLoops")

    def every_route(self, nodes: Sequence[str]) -> Rows:
        return self._rows("routes", nodes=_named(nodes))

    def filters(self, nodes: Sequence[str]) -> Rows:
        wanted = "Incoming_Filter_Name,Outgoing_Filter_Name"
        return self._rows("interfaceProperties", nodes=_named(nodes), properties=wanted, excludeShutInterfaces=True)

    def filtered(self, node: str, name: str, action: str, flow: Flow) -> Rows:
        return self._rows("searchFilters", nodes=_named([node]), filters=f'"{name}"', action=action, headers=_headers(flow))

    def _rows(self, question: str, snapshot: str = "whole", reference: str | None = None, **wanted: Any) -> Rows:
        asked = getattr(self.session.q, question)(**wanted)
        answer = self._ask(lambda: asked.answer(snapshot=snapshot, reference_snapshot=reference))
        return rows_of(answer)

    def _ask(self, call: Callable[[], Any]) -> Any:
        from pybatfish.exception import BatfishException
        from requests import RequestException

        try:
            return call()
        except (BatfishException, RequestException) as error:
            raise Unanswered(_reason(str(error))) from error


def rows_of(answer: Any) -> Rows:
    """The rows of a table; an answer in words is none."""
    element = answer["answerElements"][0]
    if "rows" not in element:
        raise Unanswered(_reason(str(element.get("answer", "the answer is not a table"))))
    rows: Rows = element["rows"]
    return rows


def _named(nodes: Iterable[str]) -> str:
    """A specifier of nodes by their whole names."""
    return f"/^({'|'.join(nodes)})$/"


def _headers(flow: Flow) -> Any:
    from pybatfish.datamodel import HeaderConstraints

    stated: dict[str, Any] = {"srcIps": flow.sources, "dstIps": flow.targets}
    if flow.protocol:
        stated |= {"ipProtocols": [flow.protocol.upper()], "dstPorts": str(flow.port), "srcPorts": EPHEMERAL_PORTS}
    return HeaderConstraints(**stated)


def _flows(start: str, sources: str, targets: str) -> dict[str, Any]:
    from pybatfish.datamodel import HeaderConstraints, PathConstraints

    return {
        "pathConstraints": PathConstraints(startLocation=start),
        "headers": HeaderConstraints(srcIps=sources, dstIps=targets),
    }


def _reason(text: str) -> str:
    """The cause in one line: the last `Caused by` of a Java trace, else the first line."""
    causes = [line.partition("Caused by: ")[2] for line in text.splitlines() if line.startswith("Caused by: ")]
    line = causes[-1] if causes else next(iter(text.splitlines()), "")
    return line[:200] or "no reason given"


def _quiet() -> None:
    """The client tells its progress on the log; the report says it better."""
    import logging

    logging.getLogger("pybatfish").setLevel(logging.WARNING)
