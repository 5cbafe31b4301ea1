"""EVPN and VXLAN as switches report them."""

from __future__ import annotations

from fabric.audit.checks import ERROR
from fabric.audit.checks.state.family import StateCheck
from fabric.audit.verify.overlay_faults import TARGETS, TENANT_ROUTE, TUNNEL, VNI


class Vnis(StateCheck):
    """Tests whether a leaf has the planned VNIs, each of its kind and in its VRF, and no others.

    A VNI joins a VLAN or VRF with that of other leaves: with a wrong number a tenant is isolated on the leaf, or in the
    network of another tenant.
    """

    id = "FAB367"
    title = "VNIs are as planned"
    severity = ERROR
    example = "VNI 10001 is missing, and VNI 10010 is not planned"
    remediation = "map the planned VNI to its VLAN or VRF"
    kinds = (VNI,)


class RouteTargets(StateCheck):
    """Tests whether VNIs import and export the planned route targets.

    Leaves exchange routes of a network only with equal route targets. Routes that other leaves lack because of a wrong
    target are not reported.
    """

    id = "FAB368"
    title = "VNIs have the planned route targets"
    severity = ERROR
    example = "one leaf imports 65000:10002 for VNI 10001"
    remediation = "set the planned route targets and route distinguisher"
    kinds = (TARGETS,)


class Tunnels(StateCheck):
    """Tests whether every leaf of a network has a tunnel to every other leaf of it, and to no other VTEP.

    Broadcasts of a network are replicated to the VTEPs of its VNI: without its tunnel a leaf gets no ARP requests. If no
    leaf has a tunnel to a leaf, the finding is at that leaf, else at the leaf without the tunnel.
    """

    id = "FAB369"
    title = "Tunnels between the leaves of a network are as planned"
    severity = ERROR
    example = "VNI 10001 of one leaf has no tunnel to 10.2.0.4"
    remediation = "check the EVPN sessions and route targets of the leaf"
    kinds = (TUNNEL,)


class TenantRoutes(StateCheck):
    """Tests whether the table of each tenant has the subnets of its other leaves over their VTEPs, as type-5 routes.

    Without the route, the servers of a leaf are not reachable from other leaves. Only subnets in the table of their own leaf
    are compared.
    """

    id = "FAB370"
    title = "Subnets of tenants are in the tables of all their leaves"
    severity = ERROR
    example = "no leaf has 10.20.3.0/31 of a tenant, because its leaf does not advertise connected routes"
    remediation = "check what the VRF advertises, its route targets and filters"
    kinds = (TENANT_ROUTE,)
