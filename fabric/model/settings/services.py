"""What rides on the underlay and beside it: overlay, tenants, QoS, management, checks, overrides, output."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from fabric.base.text import is_unicast
from fabric.model.settings.addressing import Address, Asn, HostAddress, Prefix, Prefixes, Routes, Server
from fabric.model.settings.base import Count, Key, Line, ListOf, Name, TenantName
from fabric.model.settings.infiniband import Partition
from fabric.model.settings.site import DayZero

Vni = Annotated[int, Field(ge=1, le=16_777_215)]
Vlan = Annotated[int, Field(ge=2, le=4094)]
Priority = Annotated[int, Field(ge=1, le=7)]  # 0 is best effort
Lossless = Annotated[int, Field(ge=1, le=6)]  # 0 is best effort, 7 what switches say to each other
Dscp = Annotated[int, Field(ge=1, le=63)]  # 0 is what every packet without a mark has


_VIRTUAL_ROUTERS = re.compile("00:00:5e:00:0[12]:(?!00)")  # VRRP, RFC 9568: group 1 to 255 of IPv4, of IPv6


def _mac(text: str) -> str:
    """A MAC address that an interface may have: Linux refuses zero and groups, and IANA has the rest of 00:00:5e."""
    mac = text.lower()
    if not re.fullmatch("[0-9a-f]{2}(:[0-9a-f]{2}){5}", mac):
        raise ValueError("expected the MAC address of one station, such as 00:00:5e:00:01:01")
    if not is_unicast(mac):
        raise ValueError("expected the MAC address of one station, such as 00:00:5e:00:01:01, no group's and not zero")
    if mac.startswith("00:00:5e:") and not _VIRTUAL_ROUTERS.match(mac):
        raise ValueError(
            "expected 00:00:5e:00:01:01 to …:ff (virtual routers): IANA reserves the rest of 00:00:5e (RFC 9542)"
        )
    return mac


class Overlay(Key):
    """EVPN/VXLAN on the underlay, or tenant isolation of a routed fabric."""

    kind: Literal["none", "evpn-vxlan"] = Field("none", description="`none`: routed fabric; `evpn-vxlan`: tenants by VNI")
    isolation: Literal["vrf-lite", "acl"] | None = Field(
        None,
        description=(
            "several tenants without an overlay: `vrf-lite`, a VRF and a tagged subinterface per tenant on every link; "
            "`acl`, one routing table and a filter on every server port"
        ),
    )
    route_servers: int = Field(
        4, ge=1, le=64, description="spines of each pod and plane (cores of each group) that serve as EVPN route servers"
    )
    rt_asn: Annotated[Asn, Field(le=65_534)] = Field(
        65_000, description="2-byte AS number in every route target, so that a VNI of any size fits"
    )
    anycast_mac: Annotated[Line, AfterValidator(_mac)] = Field(
        "00:00:5e:00:01:01", description="MAC address of the distributed gateways"
    )
    l3vni_base: Vni = Field(50_000, description="first VNI of a tenant's VRF")
    l2vni_base: Vni = Field(10_000, description="first VNI of a tenant's network")


class DhcpRelay(Key):
    """DHCP servers that the gateway of a network passes requests on to."""

    servers: Annotated[tuple[HostAddress, ...], ListOf] = Field(min_length=1, description="IPv4 addresses of the servers")
    tenant: TenantName | None = Field(
        None,
        description=(
            "`default`: servers in the table of the fabric itself; default: in the VRF of the network, which imports routes "
            "to servers of another tenant"
        ),
    )


def _relay(value: Any) -> Any:
    return {"servers": value} if isinstance(value, str | list) else value


class Network(Key):
    """A layer-2 network of a tenant."""

    name: TenantName = Field(description="name of the network")
    vlan: Vlan | None = Field(None, description="VLAN on the server ports")
    vni: Vni | None = Field(None, description="its VNI; default: from `overlay.l2vni_base`")
    gateway: Prefix | None = Field(None, description="subnet whose first address is the distributed gateway")
    dhcp_relay: Annotated[DhcpRelay | None, BeforeValidator(_relay)] = Field(
        None, description="DHCP servers behind the gateway: `[10.1.1.5, 10.1.1.6]`, or with the tenant that reaches them"
    )
    rails: Annotated[tuple[Count, ...], ListOf] = Field(
        (),
        description=(
            "rails whose server ports are in it, and in no other network of the tenant; where leaves serve no single rail, "
            "NICs by their number; default: all ports"
        ),
    )
    planes: Annotated[tuple[Count, ...], ListOf] = Field(
        (), description="planes whose server ports are in it, as `rails`; with both the ports of these rails on these planes"
    )
    nics: Annotated[tuple[Line, ...], ListOf] = Field(
        (), description="purposes of the NICs whose ports are in it; default: all ports of the tenant"
    )
    untagged: bool = Field(
        False, description="untagged on ports with several networks, whose others are tagged; default: tagged on these"
    )

    @property
    def parted(self) -> bool:
        """Whether it has the ports of some rails or planes alone."""
        return bool(self.rails or self.planes)

    def has(self, rail: int, plane: int) -> bool:
        """Whether ports of a rail and plane, from 1, are in it."""
        return (not self.rails or rail in self.rails) and (not self.planes or plane in self.planes)


def _of_tenant(value: Any) -> Any:
    """Lets the name of a tenant stand for all its routes."""
    return {"from": value} if isinstance(value, str) else value


class Import(Key):
    """Routes of another tenant in this tenant's table: all that it has, or those of some prefixes."""

    source: TenantName = Field(alias="from", description="tenant that has the routes")
    prefixes: Routes | None = Field(
        None,
        min_length=1,
        description=(
            "the routes that are imported, and no others: `0.0.0.0/0` is the default route alone, any other prefix with all "
            "inside it; default: all routes of that tenant"
        ),
    )


class Tenant(Key):
    """Tenants and their servers, racks or rails; the ports follow."""

    name: TenantName = Field(description="name of the tenant and its VRF")
    servers: Annotated[tuple[Line, ...], ListOf] = Field((), description="server names or ranges, `dgx-h100-0001..0032`")
    racks: Annotated[tuple[Count, ...], ListOf] = Field((), description="racks, from 1")
    rails: Annotated[tuple[Count, ...], ListOf] = Field((), description="rails, from 1")
    nics: Annotated[tuple[Line, ...], ListOf] = Field(
        (), description="purposes of the NICs, where a fabric connects several of a server; default: all"
    )
    vni: Vni | None = Field(None, description="VNI of the VRF; default: from `overlay.l3vni_base`")
    partition: Partition = Field(Partition(), description="P_Key and members on InfiniBand")
    networks: Annotated[tuple[Network, ...], ListOf] = Field((), description="layer-2 networks")
    imports: Annotated[tuple[Annotated[Import, BeforeValidator(_of_tenant)], ...], ListOf] = Field(
        (),
        description=(
            "tenants whose routes are imported, by name all of them, or `{from: NAME, prefixes: […]}`; traffic needs the "
            "import on both sides"
        ),
    )

    @property
    def sources(self) -> tuple[str, ...]:
        """Tenants of which it imports something."""
        return tuple(dict.fromkeys(item.source for item in self.imports))

    def subnets_with(self, address: str) -> tuple[str, ...]:
        """The subnets of its networks that an address is in."""
        stated = (ip_network(network.gateway, strict=False) for network in self.networks if network.gateway)
        return tuple(str(subnet) for subnet in stated if ip_address(address) in subnet)


@dataclass(frozen=True, slots=True)
class EcnRule:
    """Thresholds as fixed bytes, or as bytes per Gb/s of the port."""

    kmin_bytes: int
    kmax_bytes: int
    pmax_percent: int
    source: str
    per_gbps: bool = False


# What others run. The linear rule is that of the HPCC authors for DCQCN: 100 and 400 KB at 25G, 400 and 1600 KB at 100G.
ECN_RULES = {
    "linear": EcnRule(
        4_000, 16_000, 20, "alibaba-edu/High-Precision-Congestion-Control@9f4be2a simulation/mix/config.txt", per_gbps=True
    ),
    "nvidia": EcnRule(150_000, 1_500_000, 100, "Cumulus Linux `nv set qos roce`, docs.nvidia.com, RoCE, lossless mode"),
    "azure": EcnRule(
        1_048_576, 2_097_152, 5, "sonic-net/sonic-buildimage@086b03bd70f9 files/build_templates/qos_config.j2, AZURE_LOSSLESS"
    ),
    "cisco": EcnRule(150_000, 3_000_000, 7, "Cisco data center networking blueprint for AI/ML applications, queuing policy"),
}


class Ecn(Key):
    """ECN marking thresholds that override the computed ones."""

    rule: Literal["linear", "nvidia", "azure", "cisco"] = Field(
        "linear",
        description=(
            "source of the thresholds: `linear` with the port speed, kept below the worst-case XOFF threshold; or the fixed "
            "values that NVIDIA (`nv set qos roce`), SONiC's template (AZURE_LOSSLESS) or Cisco's AI/ML blueprint ship"
        ),
    )
    kmin_bytes: int | None = Field(None, ge=1, description="queue length at which marking begins")
    kmax_bytes: int | None = Field(None, ge=1, description="queue length at which every packet is marked")
    pmax_percent: int | None = Field(None, ge=1, le=100, description="marking probability at Kmax")

    @model_validator(mode="after")
    def _order(self) -> Ecn:
        if self.kmin_bytes is not None and self.kmax_bytes is not None and self.kmin_bytes > self.kmax_bytes:
            raise ValueError(f"expected kmin_bytes of at most kmax_bytes ({self.kmax_bytes}), got {self.kmin_bytes}")
        return self


MAX_WEIGHTED_PERCENT = 95  # of a port; best effort has the rest


class StorageClass(Key):
    """A class of its own for storage traffic, beside that of collectives."""

    priority: Lossless = Field(4, description="PFC priority, traffic class and queue")
    dscp: Dscp = Field(34, description="DSCP of storage data")
    percent: int = Field(20, ge=5, le=85, description="guaranteed bandwidth, percent of a port")
    lossless: bool = Field(
        True, description="PFC, headroom and ECN, for NVMe-oF and NFS over RDMA; false: a queue and its bandwidth, for TCP"
    )


class Qos(Key):
    """Lossless Ethernet for RoCE."""

    enabled: bool | None = Field(None, description="default: true for compute and storage fabrics")
    lossless_priority: Lossless = Field(3, description="PFC priority, traffic class and queue of RoCE")
    lossless_dscp: Dscp = Field(26, description="DSCP of RoCE data")
    cnp_priority: Priority = Field(6, description="traffic class of congestion notifications")
    cnp_dscp: Dscp = Field(48, description="DSCP of congestion notifications")
    ecn: Ecn = Field(Ecn(), description="marking thresholds")
    pfc_watchdog: bool = Field(True, description="PFC watchdog on every lossless port")
    watchdog_ms: int = Field(
        200,
        ge=100,
        le=5000,
        description="time that a queue must be paused before the watchdog acts; large switches poll more slowly",
    )
    lossless_percent: int = Field(
        60, ge=10, le=90, description="guaranteed bandwidth of the lossless class, percent of a port; the rest is best effort"
    )
    storage: StorageClass | None = Field(
        None,
        description=(
            "class of storage NICs on a fabric that has others too; default: that of RoCE. `{}` is priority 4, DSCP 34, 20 "
            "percent, lossless"
        ),
    )
    lossless_memory_percent: int | None = Field(
        None,
        ge=10,
        le=90,
        description=(
            "share of a switch's shared buffer for the lossless class, percent; the rest is best effort; default: that of "
            "the network OS. Headroom is counted in the whole buffer"
        ),
    )
    traffic: Literal["static", "dynamic"] = Field(
        "static", description="headroom for small packets only (`static`, the worst case) or for half of them (`dynamic`)"
    )
    rdma_mtu: Literal[1024, 2048, 4096] = Field(4096, description="payload of an RDMA packet; headroom is computed for it")
    buffer_model: Literal["auto", "static", "dynamic"] = Field(
        "auto", description="SONiC: `static` profiles or the `dynamic` model; dynamic if the chip supports it"
    )

    @model_validator(mode="after")
    def _apart(self) -> Qos:
        for what in ("priority", "dscp"):
            if getattr(self, f"lossless_{what}") == (same := getattr(self, f"cnp_{what}")):
                raise ValueError(f"expected a cnp_{what} that differs from lossless_{what}, got {same} for both")
            own = getattr(self.storage, what, None)
            other = next((key for key in (f"lossless_{what}", f"cnp_{what}") if getattr(self, key) == own), "")
            if other:
                raise ValueError(f"expected a storage.{what} that differs from {other}, got {own} for both")
        if self.storage and self.lossless_percent + self.storage.percent > MAX_WEIGHTED_PERCENT:
            got = f"{self.lossless_percent} and {self.storage.percent}"
            raise ValueError(
                f"expected lossless_percent and storage.percent of at most {MAX_WEIGHTED_PERCENT} together, got {got}"
            )
        return self


_SECRET = r"^[A-Za-z_][A-Za-z0-9_]{0,62}$"
Secret = Annotated[str, Field(pattern=_SECRET)]


class Secrets(Key):
    """Names of secrets, not the secrets: configs contain `${NAME}`, which a vault or `envsubst` replaces."""

    admin: Secret = Field("ADMIN_PASSWORD_HASH", description="administrator's password hash, format of the network OS")
    snmp_auth: Secret = Field("SNMP_AUTH_KEY", description="SNMPv3 authentication key")
    snmp_priv: Secret = Field("SNMP_PRIV_KEY", description="SNMPv3 privacy key")


SnmpUser = Annotated[Name, Field(min_length=4)]  # SONiC takes no shorter one

# --- Logins ---------------------------------------------------------------------------------------------------

LOCAL = "local"
METHODS = ("tacacs", "radius", "ldap")  # those with servers
MAX_LOGIN_SERVERS = 8  # of one method: what SONiC and Cumulus Linux take
_PART = "[A-Za-z][A-Za-z0-9-]*=[A-Za-z0-9 ._@-]*[A-Za-z0-9._@-]"  # of a distinguished name, without its escapes


def _different(servers: tuple[str, ...]) -> tuple[str, ...]:
    for at, server in enumerate(servers):
        if server in servers[:at]:
            raise ValueError(f"expected every entry once, got {server} twice")
    return servers


Port = Annotated[int, Field(ge=1, le=65_535)]
Seconds = Annotated[int, Field(ge=1, le=60)]
LoginServers = Annotated[
    tuple[HostAddress, ...], ListOf, Field(min_length=1, max_length=MAX_LOGIN_SERVERS), AfterValidator(_different)
]
DN_PATTERN = f"^{_PART}(,{_PART})*$"
DistinguishedName = Annotated[str, Field(max_length=200, pattern=DN_PATTERN)]
_SERVERS = "addresses of the servers; the first that answers decides"
_TIMEOUT = "seconds until the next server is asked; default: that of the network OS"


class Tacacs(Key):
    """TACACS+ servers, in the order in which they are asked."""

    servers: LoginServers = Field(description=_SERVERS)
    secret: Secret = Field("TACACS_KEY", description="name of the shared secret; not the secret itself")
    port: Port = Field(49, description="TCP port")
    timeout_s: Seconds | None = Field(None, description=_TIMEOUT)


class Radius(Key):
    """RADIUS servers, in the order in which they are asked."""

    servers: LoginServers = Field(description=_SERVERS)
    secret: Secret = Field("RADIUS_KEY", description="name of the shared secret; not the secret itself")
    port: Port = Field(1812, description="UDP port of authentication; that of accounting is the next one")
    timeout_s: Seconds | None = Field(None, description=_TIMEOUT)


class Ldap(Key):
    """LDAP servers, in the order in which they are asked."""

    servers: LoginServers = Field(description=_SERVERS)
    base_dn: DistinguishedName = Field(description="where the users are in the directory")
    bind_dn: DistinguishedName = Field(description="user with which the switch searches the directory")
    secret: Secret = Field("LDAP_BIND_PASSWORD", description="name of the password of `bind_dn`; not the password itself")
    port: Port = Field(389, description="TCP port")
    timeout_s: Seconds | None = Field(None, description=_TIMEOUT)


class Aaa(Key):
    """Who may log in to the switches: users of TACACS+, RADIUS or LDAP servers, and those of the switch itself."""

    tacacs: Tacacs | None = Field(None, description="TACACS+ servers")
    radius: Radius | None = Field(None, description="RADIUS servers")
    ldap: Ldap | None = Field(None, description="LDAP servers")
    login: Annotated[
        tuple[Literal["tacacs", "radius", "ldap", "local"], ...], ListOf, Field(min_length=1), AfterValidator(_different)
    ] = Field((), description="order of the methods; default: those with servers, then `local`, the users of the switch")
    accounting: Literal["tacacs", "radius"] | None = Field(
        None, description="servers that receive records of logins and commands; default: none"
    )

    @model_validator(mode="after")
    def _served(self) -> Aaa:
        used = {*self.order, self.accounting}
        for method in METHODS:
            if method in used and getattr(self, method) is None:
                raise ValueError(f"expected the servers of {method}, `{method}: {{servers: …}}`, got none")
            if method not in used and getattr(self, method) is not None:
                raise ValueError(f"expected {method} in `login` or `accounting`, as it has servers, got neither")
        if used <= {LOCAL, None}:
            raise ValueError(f"expected the servers of {METHODS[0]}, {METHODS[1]} or {METHODS[2]}, got none")
        return self

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of the secrets that configs refer to."""
        return tuple(one.secret for method in METHODS if (one := getattr(self, method)) is not None)

    @property
    def order(self) -> tuple[str, ...]:
        """The methods that a login tries, the first one first."""
        return self.login or (*(method for method in METHODS if getattr(self, method) is not None), LOCAL)


# --- Management and the rest of a site ------------------------------------------------------------------------


class Management(Key):
    """Management access, and NTP, DNS and syslog servers."""

    vrf: bool = Field(True, description="put management into its own VRF")
    gateway: Address | None = Field(None, description="default gateway; default: the first address of the pool")
    ntp: Annotated[tuple[Server, ...], ListOf] = Field((), description="time servers, by address or host name")
    syslog: Annotated[tuple[HostAddress, ...], ListOf] = Field((), description="log collectors")
    dns: Annotated[tuple[HostAddress, ...], ListOf] = Field((), description="name servers")
    timezone: Annotated[str, Field(pattern=r"^[A-Za-z0-9_+/-]{1,40}$")] = Field("UTC", description="time zone")
    allow: Prefixes | None = Field(
        None, description="prefixes with access to SSH, SNMP and gNMI; default: the management pool"
    )
    snmp_user: SnmpUser | None = Field(None, description="SNMPv3 user with read access; default: no SNMP")
    gnmi: bool = Field(False, description="gNMI over TLS, with the certificate named `gnmi` on the device")
    banner: Line = Field("Authorized access only", description="text before the login prompt")
    aaa: Aaa | None = Field(None, description="login by TACACS+, RADIUS or LDAP; default: users of the switch alone")
    secrets: Secrets = Field(Secrets(), description="names of the secrets in configs")
    day_zero: DayZero | None = Field(None, description="first start of the switches: HTTP server and images; default: none")


class Checks(Key):
    """Checks of this intent."""

    silence: dict[Annotated[str, Field(pattern=r"^FAB[0-9]{3,4}$")], Line] = Field(
        default_factory=dict, description="code of a warning or check → reason why it does not apply"
    )


class Override(Key):
    """A site's own lines for some switches: a template that extends a shipped one, or a merge patch of a document."""

    role: Literal["leaf", "spine", "core"] | None = Field(None, description="switches of this role")
    devices: Annotated[tuple[Line, ...], ListOf] = Field((), description="switches by name or glob, `backend-leaf00*`")
    fabric: Name | None = Field(None, description="switches of this fabric")
    template: Line | None = Field(
        None, description="file beside the intent that extends a template and replaces blocks: `site/ntp.eos.j2`"
    )
    file: Line | None = Field(None, description="document to patch, e.g. `config_db.json`")
    patch: dict[str, Any] | None = Field(None, description="RFC 7396 merge patch of that document")

    @model_validator(mode="after")
    def _one(self) -> Override:
        if (self.template is None) == (self.patch is None):
            raise ValueError(
                f"expected either template, or file and patch, got {'neither' if self.patch is None else 'both'}"
            )
        if (self.patch is None) != (self.file is None):
            got = "file" if self.patch is None else "patch"
            raise ValueError(f"expected file and patch together, got {got} alone")
        return self


class Output(Key):
    """What is written and compared."""

    hosts: bool = Field(True, description="write the files of servers as well: addresses, RoCE settings, NCCL environment")
    keep: bool = Field(
        True, description="false: output too large to commit; `generate --check` plans and renders, but compares no file"
    )
