"""Fields and rules of the objects of Network Operator 26.7: an own table, in the words of the objects.

Sources: CRDs of Mellanox/nic-configuration-operator@3f85cf1, Mellanox/spectrum-x-operator@47f931e (branches
network-operator-26.7.x) and Mellanox/nvidia-k8s-ipam@3ce4a34 (v26.7.0-beta.4), their CEL rules, and the admission rules of
nvidia-k8s-ipam `api/v1alpha1/cidrpool_validate.go`. In 26.7 a NicConfigurationTemplate has no `platformType`, and a
SpectrumXRailPoolConfig no `vfStateFollow`: both came to the main branches in August 2026, behind the release branch.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

RELEASE = "26.7"
CX8, CX9, BF3 = "1023", "1025", "a2dc"  # PCI device ids of NICs
MULTIPLANE = (CX8, CX9)
INT32 = 2**31 - 1

Labels = dict[str, str]
Pci = Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]$")]
Int32 = Annotated[int, Field(ge=-(2**31), le=INT32)]
Index = Annotated[int, Field(ge=0, le=INT32)]


class Part(BaseModel):
    """A part of an object, decoded strictly: an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _no_nulls(cls, data: Any) -> Any:
        return {key: value for key, value in data.items() if value is not None} if isinstance(data, dict) else data


# --- CIDRPool -------------------------------------------------------------------------------------------------


def _network(text: str) -> str:
    try:
        ip_network(text)
    except ValueError as error:
        raise ValueError(f"expected a prefix without host bits: {error}") from None
    return text


def _any_network(text: str) -> str:
    try:
        ip_network(text, strict=False)
    except ValueError as error:
        raise ValueError(f"expected a prefix: {error}") from None
    return text


Network = Annotated[str, AfterValidator(_network)]


class Route(Part):
    """A route over the gateway of the node."""

    dst: Annotated[str, AfterValidator(_any_network)]


class IndexRange(Part):
    """Addresses of every node's prefix that are not given out."""

    startIndex: Index
    endIndex: Index

    @model_validator(mode="after")
    def _ascending(self) -> IndexRange:
        if self.endIndex < self.startIndex:
            raise ValueError("endIndex must be greater than or equal to startIndex")
        return self


class AddressRange(Part):
    """Addresses of the pool that are not given out."""

    startIP: str
    endIP: str


class StaticAllocation(Part):
    """The prefix of one node."""

    prefix: Network
    nodeName: str = ""
    gateway: str = ""


class CidrPool(Part):
    """Addresses of one rail, or of one rail on one plane."""

    cidr: Network
    perNodeNetworkPrefix: Int32
    gatewayIndex: Index | None = None
    perNodeExclusions: tuple[IndexRange, ...] = ()
    exclusions: tuple[AddressRange, ...] = ()
    routes: tuple[Route, ...] = ()
    staticAllocations: tuple[StaticAllocation, ...] = ()
    defaultGateway: bool = False
    nodeSelector: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _admitted(self) -> CidrPool:
        pool, length = ip_network(self.cidr), self.perNodeNetworkPrefix
        if not pool.prefixlen <= length <= pool.max_prefixlen or not length:
            raise ValueError(f"perNodeNetworkPrefix: expected {pool.prefixlen} to {pool.max_prefixlen}, got {length}")
        size = 1 << (pool.max_prefixlen - length)
        if self.gatewayIndex is None and (self.routes or self.defaultGateway):
            raise ValueError("routes and defaultGateway need gatewayIndex")
        lowest, most = (0, size - 1) if size <= 2 else (1, size - (2 if pool.version == 4 else 1))
        if self.gatewayIndex is not None and not lowest <= self.gatewayIndex <= most:
            raise ValueError("gatewayIndex is outside of the prefix of a node")
        if any(its.endIndex >= size for its in self.perNodeExclusions):
            raise ValueError("perNodeExclusions: index is outside of the prefix of a node")
        if any(ip_network(route.dst, strict=False).version != pool.version for route in self.routes):
            raise ValueError("routes: another address family than cidr")
        for text in _allocations(self, pool):
            raise ValueError(f"staticAllocations: {text}")
        return self


def _allocations(pool: CidrPool, cidr: IPv4Network | IPv6Network) -> Iterator[str]:
    for its in pool.staticAllocations:
        prefix = ip_network(its.prefix)
        if prefix.version != cidr.version or prefix.network_address not in cidr:
            yield f"{its.prefix} is not part of {pool.cidr}"
        if prefix.prefixlen != pool.perNodeNetworkPrefix:
            yield f"{its.prefix} has another length than perNodeNetworkPrefix"
        if its.gateway and not _inside(its.gateway, prefix):
            yield f"gateway {its.gateway} is outside of {its.prefix}"
    for values in ([its.nodeName for its in pool.staticAllocations], [its.prefix for its in pool.staticAllocations]):
        yield from (f"{value} stands twice" for value, count in Counter(values).items() if value and count > 1)


def _inside(address: str, prefix: IPv4Network | IPv6Network) -> bool:
    try:
        return ip_address(address) in prefix
    except ValueError:
        return False


# --- NicInterfaceNameTemplate ---------------------------------------------------------------------------------


class NicInterfaceNameTemplate(Part):
    """Names of the ports of NICs, by their PCI addresses."""

    pfsPerNic: int
    netDevicePrefix: str
    rdmaDevicePrefix: str = ""
    railPciAddresses: tuple[tuple[str, ...], ...]
    nodeSelector: Labels | None = None


# --- NicConfigurationTemplate ---------------------------------------------------------------------------------


class SpectrumX(Part):
    """Optimizations of Spectrum-X; the profile has the values."""

    enabled: bool
    version: str
    multiplaneMode: Literal["none", "swplb", "hwplb", "uniplane"] = "none"
    numberOfPlanes: Literal[1, 2, 4] = 1
    overlay: Literal["l3", "none"] = "none"

    @model_validator(mode="after")
    def _planes(self) -> SpectrumX:
        if self.multiplaneMode == "none" and self.numberOfPlanes != 1:
            raise ValueError("when multiplaneMode is none, numberOfPlanes must be 1")
        if self.multiplaneMode != "none" and self.numberOfPlanes == 1:
            raise ValueError("when multiplaneMode is not none, numberOfPlanes must not be 1")
        return self


class Switched(BaseModel):
    """A section whose other fields the plan says nothing of."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    enabled: bool


class RawValue(Part):
    """A parameter of the firmware."""

    name: Annotated[str, Field(max_length=64)]
    value: Annotated[str, Field(max_length=128)]


class NicTemplate(Part):
    """The configuration of NICs."""

    numVfs: int
    linkType: Literal["Ethernet", "Infiniband"] | None = None
    spectrumXOptimized: SpectrumX | None = None
    roceOptimized: Switched | None = None
    rawNvConfig: Annotated[tuple[RawValue, ...], Field(max_length=128)] = ()
    networkBay: dict[str, str] | None = None
    gpuDirectOptimized: Switched | None = None
    pciPerformanceOptimized: Switched | None = None
    runtimePerformanceOptimized: Switched | None = None
    force: bool = False

    @model_validator(mode="after")
    def _together(self) -> NicTemplate:
        spectrum_x = self.spectrumXOptimized is not None and self.spectrumXOptimized.enabled
        if spectrum_x and (self.linkType not in (None, "Ethernet") or self.numVfs != 1):
            raise ValueError("spectrumXOptimized can be enabled only when linkType is Ethernet and numVfs 1")
        if spectrum_x and self.roceOptimized is not None and self.roceOptimized.enabled:
            raise ValueError("spectrumXOptimized includes RoCE optimizations: roceOptimized must not be enabled")
        if (self.networkBay is None) == (self.linkType is None):
            raise ValueError("linkType is required unless networkBay is configured, which excludes it")
        if any(re.search(r"\[[0-9]+\.\.[0-9]+\]", its.name) for its in self.rawNvConfig):
            raise ValueError("rawNvConfig: names must list each index, not a range")
        return self


class NicSelector(Part):
    """The NICs that a template is for."""

    nicType: str
    pciAddresses: tuple[Pci, ...] = ()
    partNumbers: tuple[str, ...] = ()
    serialNumbers: tuple[str, ...] = ()


class NicConfigurationTemplate(Part):
    """Firmware and run-time configuration of NICs."""

    nicSelector: NicSelector
    template: NicTemplate
    nodeSelector: Labels | None = None
    resetToDefault: bool = False

    @model_validator(mode="after")
    def _able(self) -> NicConfigurationTemplate:
        kind, spectrum_x = self.nicSelector.nicType, self.template.spectrumXOptimized
        if spectrum_x and spectrum_x.enabled and kind not in (*MULTIPLANE, BF3):
            raise ValueError("spectrumXOptimized can be enabled only for ConnectX-8, ConnectX-9 and BlueField-3 SuperNICs")
        if spectrum_x and spectrum_x.multiplaneMode != "none" and kind not in MULTIPLANE:
            raise ValueError("several planes need ConnectX-8 (nicType 1023) or ConnectX-9 (nicType 1025)")
        if self.template.networkBay is not None and kind != CX9:
            raise ValueError("networkBay can only be configured for ConnectX-9 (nicType 1025)")
        return self


# --- SpectrumXRailPoolConfig ----------------------------------------------------------------------------------


class PfSelector(Part):
    """Ports of a rail, or of a rail on a plane."""

    pfNames: Annotated[tuple[str, ...], Field(min_length=1)]


class RailTopology(Part):
    """One network of the pods."""

    name: Annotated[str, Field(min_length=1)]
    mtu: Annotated[int, Field(ge=0)]
    nicSelector: PfSelector
    cidrPoolRef: str = ""
    ipam: str = ""

    @model_validator(mode="after")
    def _one_source(self) -> RailTopology:
        if {"cidrPoolRef", "ipam"} <= self.model_fields_set:
            raise ValueError("only one of cidrPoolRef or ipam can be specified")
        return self


Percentage = Annotated[str, StringConstraints(pattern=r"^[0-9]+%$")]


class SpectrumXRailPoolConfig(Part):
    """The rails of nodes, with their pools of addresses."""

    numVfs: Annotated[int, Field(ge=1)]
    railTopology: Annotated[tuple[RailTopology, ...], Field(min_length=1)]
    draEnabled: bool = True
    maxUnavailable: int | Percentage = 1
    networkNamespace: str = ""
    nodeSelector: Labels | None = None


# --- objects --------------------------------------------------------------------------------------------------

API = {
    "CIDRPool": "nv-ipam.nvidia.com/v1alpha1",
    "NicInterfaceNameTemplate": "configuration.net.nvidia.com/v1alpha1",
    "NicConfigurationTemplate": "configuration.net.nvidia.com/v1alpha1",
    "SpectrumXRailPoolConfig": "spectrumx.nvidia.com/v1alpha2",
}
SPECS: Mapping[str, type[Part]] = {
    "CIDRPool": CidrPool,
    "NicInterfaceNameTemplate": NicInterfaceNameTemplate,
    "NicConfigurationTemplate": NicConfigurationTemplate,
    "SpectrumXRailPoolConfig": SpectrumXRailPoolConfig,
}
GROUPS = {api.partition("/")[0] for api in API.values()}
NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
TOP = frozenset({"apiVersion", "kind", "metadata", "spec", "status"})


def mistakes(thing: Mapping[str, Any]) -> list[tuple[tuple[str | int, ...], str]]:
    """What the API server of a cluster would refuse in an object of one of these kinds: (path of the field, why)."""
    kind = str(thing.get("kind"))
    if kind not in SPECS:
        return [(("kind",), f"expected one of {', '.join(sorted(SPECS))}, got {kind}")]
    found: list[tuple[tuple[str | int, ...], str]] = []
    if thing.get("apiVersion") != API[kind]:
        found.append((("apiVersion",), f"expected {API[kind]}, got {thing.get('apiVersion')}"))
    found += [((str(key),), "unknown field") for key in thing if key not in TOP]
    metadata = thing.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    if not isinstance(name, str) or not NAME.fullmatch(name):
        found.append((("metadata", "name"), f"expected a name of letters, digits, hyphens and dots, got {name}"))
    try:
        _validated(kind, thing.get("spec"))
    except ValidationError as error:
        for each in error.errors(include_url=False, include_input=False, include_context=False):
            message = each["msg"].removeprefix("Value error, ")
            found.append((("spec", *each["loc"]), _words(each["type"], message)))
    return found


def spec_of(thing: Mapping[str, Any]) -> Part:
    """The fields of an object without mistakes."""
    return _validated(str(thing["kind"]), thing["spec"])


def _validated(kind: str, spec: Any) -> Part:
    return SPECS[kind].model_validate(_tuples(spec))


def _tuples(data: Any) -> Any:
    """Lists as tuples, which strict records take."""
    if isinstance(data, list):
        return tuple(_tuples(item) for item in data)
    return {key: _tuples(item) for key, item in data.items()} if isinstance(data, dict) else data


def _words(kind: str, message: str) -> str:
    return {"extra_forbidden": "unknown field", "missing": "required field is missing"}.get(kind, message)
