"""Names, numbers and addresses: patterns, pools, and what a designer pins."""

from __future__ import annotations

import re
import string
from typing import Annotated, Any, Literal

from netaddr import AddrFormatError, IPAddress, IPNetwork
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from fabric.model.settings.base import HOST, Gbps, Host, Key, Line, ListOf, host_name

PATTERN_FIELDS = ("site", "fabric", "group", "role", "n", "unit", "rack", "pod", "plane", "rail")
_SPEC = re.compile(r"(0[1-9])?d?")


def _pattern(text: str) -> str:
    """Checks a name pattern: literal text and `{field}` or `{field:03}`, nothing that Python's format would evaluate."""
    try:
        parts = list(string.Formatter().parse(text))
    except ValueError as error:
        raise ValueError(f"expected a pattern such as '{{fabric}}-leaf{{n:03}}': {error}") from None
    for _, name, spec, conversion in parts:
        if name is None:
            continue
        if name not in PATTERN_FIELDS or conversion:
            got = f"{{{name}!{conversion}}}" if conversion else f"{{{name}}}"
            raise ValueError(f"expected fields among {', '.join(PATTERN_FIELDS)}, got {got}")
        if spec and (name in ("site", "fabric", "group", "role") or not _SPEC.fullmatch(spec)):
            raise ValueError(f"expected {{{name}}} or a width such as {{n:03}}, got {{{name}:{spec}}}")
    if not re.fullmatch(r"[A-Za-z0-9._-]*", "".join(literal for literal, *_ in parts)):
        raise ValueError("expected letters, digits, hyphens, dots and underscores between the fields")
    return text


# What no host may have: this network, loopback, link-local, multicast and reserved space.
_NOT_UNICAST = tuple(
    IPNetwork(text) for text in ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3", "::/8", "fe80::/10", "ff00::/8")
)


def _prefix(text: str) -> str:
    address, slash, length = text.partition("/")
    if not slash:
        raise ValueError("expected a prefix with its length, such as 10.0.0.0/16")
    try:
        network = IPNetwork(text)
    except (AddrFormatError, ValueError):
        raise ValueError("expected a prefix such as 10.0.0.0/16") from None
    if not re.fullmatch("[0-9]{1,3}", length):
        raise ValueError(f"expected a prefix length, {address}/{network.prefixlen}")
    if network.cidr.ip != network.ip:
        raise ValueError(f"expected the first address of the prefix, {network.cidr}")
    for other in _NOT_UNICAST:
        if _meet(network, other):
            raise ValueError(f"expected unicast addresses outside {other}")
    return str(network.cidr)


def _meet(one: IPNetwork, other: IPNetwork) -> bool:
    return bool(one.version == other.version and one.first <= other.last and other.first <= one.last)


def _once(prefixes: tuple[str, ...]) -> tuple[str, ...]:
    for at, prefix in enumerate(prefixes):
        if prefix in prefixes[:at]:
            raise ValueError(f"expected every prefix once, got {prefix} twice")
    return prefixes


def _address(text: str) -> str:
    try:
        return str(IPAddress(text))
    except (AddrFormatError, ValueError):
        raise ValueError("expected an address such as 10.0.0.1") from None


def _host_address(text: str) -> str:
    """The address of one host: what may stand on an interface."""
    address = IPNetwork(text)
    for other in _NOT_UNICAST:
        if _meet(address, other):
            raise ValueError(f"expected a unicast address outside {other}")
    return text


def _server(text: str) -> str:
    """An address, or a host name: one that ends in a number is an address with a typing error."""
    address = ":" in text or text.rpartition(".")[2].isdecimal()
    return _host_address(_address(text)) if address else host_name(text)


def _ipv4(text: str) -> str:
    if ":" in text:
        raise ValueError("expected an IPv4 address such as 10.0.0.1")
    return text


Pattern = Annotated[Line, AfterValidator(_pattern)]


def _route(text: str) -> str:
    return text if text in ("0.0.0.0/0", "::/0") else _prefix(text)


Prefix = Annotated[Line, AfterValidator(_prefix)]
Route = Annotated[Line, AfterValidator(_route)]  # a prefix or the default route
Address = Annotated[Line, AfterValidator(_address)]
HostAddress = Annotated[Address, AfterValidator(_host_address)]
Server = Annotated[str, AfterValidator(_server), Field(max_length=63)]
Ipv4Address = Annotated[Address, AfterValidator(_ipv4), AfterValidator(_host_address)]
Prefixes = Annotated[tuple[Prefix, ...], ListOf, AfterValidator(_once)]
Routes = Annotated[tuple[Route, ...], ListOf, AfterValidator(_once)]
# RFC 7607, RFC 6793 (AS_TRANS), RFC 7300.
RESERVED_ASNS = {0: "RFC 7607", 23_456: "AS_TRANS, RFC 6793", 65_535: "RFC 7300", 4_294_967_295: "RFC 7300"}


def _asn(number: int) -> int:
    if number in RESERVED_ASNS:
        raise ValueError(f"expected an AS number that is not reserved ({RESERVED_ASNS[number]})")
    return number


AnyAsn = Annotated[int, Field(ge=1, le=4_294_967_294)]
Asn = Annotated[AnyAsn, AfterValidator(_asn)]


class Names(Key):
    """Name patterns. Fields: {site} {fabric} {group} {role} {n} {unit} {rack} {pod} {plane} {rail}; `{n:03}` pads.

    {n} counts among the devices that the other coordinates of the pattern do not tell apart, so `p{plane}-leaf{n:02}`
    begins with 01 in every plane.
    """

    leaf: Pattern = Field("{fabric}-leaf{n:03}", description="leaves")
    spine: Pattern = Field("{fabric}-spine{n:03}", description="spines")
    core: Pattern = Field("{fabric}-core{n:03}", description="cores")
    server: Pattern = Field("{group}-{n:04}", description="servers; the same name in two fabrics is the same server")


_PORT_PATTERN = re.compile(r"(?:[A-Za-z0-9_-]|\{(?:nic|port|rail|plane)(?::0[1-9])?\})+")


def _port_pattern(text: str) -> str:
    if not _PORT_PATTERN.fullmatch(text):
        raise ValueError("expected text with fields of {nic}, {port}, {rail}, {plane}, such as eth_r{rail}_p{plane}")
    return text


PortPattern = Annotated[
    Line, AfterValidator(_port_pattern), Field(json_schema_extra={"pattern": f"^{_PORT_PATTERN.pattern}$"})
]


class NicNames(Key):
    """Patterns of names that the operating system gives NIC ports. Fields, from 0: {nic} {port} {rail} {plane}."""

    interface: PortPattern | None = Field(
        None, description="network interface: `eth_r{rail}_p{plane}`; default: as in the catalog, else the label"
    )
    rdma: PortPattern | None = Field(
        None, description="RDMA device: `roce_r{rail}_p{plane}`; of `hwplb` one for all planes: `roce_r{rail}`"
    )


class Pools(Key):
    """Address pools. Pools that are not stated are private prefixes that do not overlap the stated ones."""

    loopback: Prefixes | None = Field(None, description="IPv4 loopbacks and router IDs, one /32 each")
    loopback6: Prefixes | None = Field(None, description="IPv6 loopbacks of an IPv6 underlay, one /128 each")
    vtep: Prefixes | None = Field(None, description="VTEP addresses of an overlay")
    p2p: Prefixes | None = Field(None, description="links between switches, one /31 or /127 each")
    servers: Prefixes | None = Field(None, description="server subnets: one block per rail, in it one block per leaf")
    management: Prefixes | None = Field(None, description="management addresses of the switches")


def _number_text(value: Any) -> Any:
    """A range of one number may stand without quotes."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class AsnScheme(Key):
    """AS numbers of the underlay."""

    scheme: Literal["rfc7938", "per-pair", "per-device"] = Field(
        "rfc7938",
        description=(
            "`rfc7938`: one for the cores, one for the spines of each pod, one per leaf; `per-pair`: likewise, and one for "
            "the two leaves of a pair; `per-device`: one per switch"
        ),
    )
    ranges: Annotated[tuple[Annotated[Line, BeforeValidator(_number_text)], ...], ListOf] | None = Field(
        None, description="ranges of AS numbers, `4200000000-4200065535`; default: private AS numbers of `width`"
    )
    width: Literal[2, 4] = Field(4, description="bytes of an AS number")


class Bfd(Key):
    """Bidirectional forwarding detection on every session."""

    enabled: bool = Field(True, description="run BFD")
    interval_ms: int = Field(300, ge=50, le=60_000, description="time between packets")
    multiplier: int = Field(3, ge=2, le=50, description="lost packets until a session is down")


class LoadBalancing(Key):
    """Load balancing over equal-cost paths."""

    mode: Literal["auto", "flow", "dynamic"] = Field(
        "auto",
        description=(
            "`flow`: a hash of the five-tuple; `dynamic`: by the load of the links (DLB, adaptive routing); `auto`: "
            "dynamic if the switch supports it without side effects"
        ),
    )
    seed: int = Field(
        1, ge=0, le=1000, description="hash seed of the leaves; spines take the next number, cores the one after"
    )


class LinkSubnets(Key):
    """Subnets of links between switches."""

    length: Literal[30, 31, 127] | None = Field(
        None, description="prefix length; default: 31, or 127 with IPv6; of a /30 the two addresses in the middle are used"
    )
    first: Literal["lower", "upper"] = Field("lower", description="tier whose switch has the first address")


class Underlay(Key):
    """Routing between the switches."""

    addressing: Literal["ipv4", "unnumbered", "ipv6"] = Field(
        "ipv4", description="fabric links: IPv4 /31, unnumbered (RFC 8950), or IPv6 /127"
    )
    link_subnets: LinkSubnets = Field(LinkSubnets(), description="subnets of links between switches")
    server_subnets: Literal["leaf", "spectrum-x"] = Field(
        "leaf",
        description=(
            "/31 of server ports: `leaf`: blocks of the pool in order, the leaf has the first address; `spectrum-x`: "
            "computed from plane, rail, pod, unit and server as NVIDIA's launch kit does, the server has the first address"
        ),
    )
    asn: AsnScheme = Field(AsnScheme(), description="AS numbers")
    mtu: int = Field(
        9216, ge=1280, le=9216, description="IP MTU in bytes; lowered to the largest that all network OSes support"
    )
    bfd: Bfd = Field(Bfd(), description="failure detection")
    keepalive_s: int = Field(3, ge=1, le=60, description="BGP keepalive")
    hold_s: int = Field(9, ge=3, le=180, description="BGP hold time")
    load_balancing: LoadBalancing = Field(LoadBalancing(), description="load balancing over equal-cost paths")
    max_prefix: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="maximum number of prefixes of a neighbor; default: twice the planned number, at least 12000",
    )

    @property
    def server_first(self) -> bool:
        """Whether the server, not its leaf, has the first address of their link."""
        return self.server_subnets == "spectrum-x"

    @property
    def link_length(self) -> int:
        """Prefix length of a link between switches."""
        return self.link_subnets.length or (127 if self.addressing == "ipv6" else 31)

    @property
    def link_step(self) -> int:
        """Addresses of the subnet of a link between switches."""
        return 4 if self.link_length == 30 else 2

    @model_validator(mode="after")
    def _lengths(self) -> Underlay:
        if self.link_subnets.length is not None and (self.link_subnets.length == 127) != (self.addressing == "ipv6"):
            fits = "127" if self.addressing == "ipv6" else "30 or 31"
            raise ValueError(f"expected a link_subnets.length of {fits} with addressing {self.addressing}")
        return self

    @model_validator(mode="after")
    def _timers(self) -> Underlay:
        if self.hold_s < 3 * self.keepalive_s:
            least = 3 * self.keepalive_s
            raise ValueError(f"expected a hold_s of at least three keepalives ({least}), got {self.hold_s}")
        return self


_SUB_PORT = re.compile(r"[1-9][0-9]{0,3}/[1-9]")


def _sub_port(text: str) -> str:
    if not _SUB_PORT.fullmatch(text):
        raise ValueError("expected a front-panel port such as 33, or 33/2 of a split port")
    return text


PinnedPort = (
    Annotated[int, Field(ge=1, le=1024)]
    | Annotated[str, AfterValidator(_sub_port), Field(json_schema_extra={"pattern": f"^{_SUB_PORT.pattern}$"})]
)


class Pin(Key):
    """Fixed values of one switch."""

    name: Host | None = Field(None, description="its name")
    asn: AnyAsn | None = Field(None, description="AS number of this switch alone, such as 65001 or 4200000001")
    loopback: Ipv4Address | None = Field(None, description="its IPv4 loopback and router id")
    management: HostAddress | None = Field(None, description="its management address")
    ports: dict[Host, Annotated[tuple[PinnedPort, ...], ListOf]] = Field(
        default_factory=dict,
        description=(
            "peer → front-panel ports of its links, in link order, such as 33, or 33/2 of a split port; links on these ports "
            "move to the ports that become free"
        ),
    )


_END = re.compile(rf"{HOST.pattern} [1-9][0-9]{{0,3}}(?:/[1-9])?")


def _end(text: str) -> str:
    if not _END.fullmatch(text):
        raise ValueError("expected a switch and its front-panel port, such as backend-leaf003 33, or 33/2 of a split port")
    return text


LinkEnd = Annotated[str, AfterValidator(_end), Field(json_schema_extra={"pattern": f"^{_END.pattern}$"})]


def end_of(text: LinkEnd) -> tuple[str, int, int]:
    """Switch, cage from 1 and port of the cage from 0 of `backend-leaf003 33/2`."""
    switch, port = text.split(" ")
    cage, _, sub = port.partition("/")
    return switch, int(cage), int(sub or 1) - 1


def _both(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _of_a_link(text: str) -> str:
    if not text.endswith(("/30", "/31", "/127")):
        raise ValueError("expected a subnet of two switches: /31, /127, or /30 as in `underlay.link_subnets`")
    return text


LinkSubnet = Annotated[Prefix, AfterValidator(_of_a_link)]


class AddedLink(Key):
    """A link between two switches of adjacent tiers that the rule of the wiring does not have; or a peer link of two leaves.

    A peer link is cabled and not routed: it has no address and no session.
    """

    ends: Annotated[tuple[LinkEnd, ...], BeforeValidator(_both), Field(min_length=2, max_length=2)] = Field(
        description="both switches with their front-panel ports, `33`, or `33/2` of a broken-out one"
    )
    speed_gbps: Gbps | None = Field(
        None, description="its speed; default: that of the other links between the two tiers, of a peer link that of uplinks"
    )
    subnet: LinkSubnet | None = Field(
        None,
        description="its subnet, as those of other links; default: from `pools.p2p`",
    )


class StatedLinks(Key):
    """Links between switches that differ from the rule of the wiring, as in a fabric that was cabled by hand."""

    remove: Annotated[tuple[LinkEnd, ...], ListOf] = Field(
        (), description="links of the rule that are not there, by one end: switch and front-panel port"
    )
    add: Annotated[tuple[AddedLink, ...], ListOf] = Field((), description="links that the rule does not have")

    @property
    def any(self) -> bool:
        """Whether a link is stated."""
        return bool(self.remove or self.add)
