"""Daemons, BGP sessions, routes, EVPN and bonds over two leaves as switches report them."""

from __future__ import annotations

from fabric.audit.checks import ERROR, WARNING
from fabric.audit.verify.all_faults import CONFLICT, FOREIGN, ROUTER_ID, StateCheck
from fabric.audit.verify.multihoming_faults import FORWARDER, PAIR, PAIRED_BOND, PREFERRED, SEGMENT
from fabric.audit.verify.overlay_faults import TARGETS, TENANT_ROUTE, TUNNEL, VNI
from fabric.audit.verify.route_faults import ACCEPTED, HOME, PATHS, ROUTE
from fabric.audit.verify.session_faults import ASN, BFD, EXTRA, FAMILY, SESSION, SILENT, STOPPED


class DaemonsRun(StateCheck):
    """Tests whether BGP is running on every switch: no output states that the daemon is not running.

    Without BGP a switch has no routes to other switches, and its neighbors report all their sessions with it as down; these
    sessions are not reported.
    """

    id = "FAB350"
    title = "BGP is running"
    severity = ERROR
    example = "`vtysh -c 'show bgp summary json'` prints `bgpd is not running`"
    remediation = "start the daemon and read its log"
    kinds = (STOPPED,)


class SwitchesAnswer(StateCheck):
    """Tests whether a switch without any state has a neighbor with an established session to it.

    A switch whose state was not collected may be working. If all of its neighbors report their sessions with it as down, it
    is off, isolated or without BGP. Its sessions are not reported separately.
    """

    id = "FAB351"
    title = "Switches without state have sessions with their neighbors"
    severity = ERROR
    example = "no file of `leaf003`, and both spines report their sessions with it as `Active`"
    remediation = "log in to the switch over its console"
    kinds = (SILENT,)


class SessionsEstablished(StateCheck):
    """Tests whether every planned BGP session is established in its address family.

    A missing session removes an equal-cost path; the last session between two switches removes their routes. The finding is
    at the end that lacks the neighbor, has shut it down, or exceeded its prefix limit. If the port is down, the cable is
    wrong, or BGP is not running, only that is reported. If the loopback of an EVPN session has no route, only the missing
    route is reported.
    """

    id = "FAB358"
    title = "Planned BGP sessions are established"
    severity = ERROR
    example = "a neighbor is `Active` at one end and `Idle` at the other"
    remediation = "compare the neighbor at both ends with the plan: addresses, AS numbers, password, TTL"
    kinds = (SESSION,)


class AsNumbers(StateCheck):
    """Tests whether both AS numbers of a session are the planned ones.

    With a wrong number the peer answers `bad peer AS` and the session stays down; if a dynamic neighbor accepts it, routes
    have an AS path that other switches reject as a loop.
    """

    id = "FAB359"
    title = "Sessions have the planned AS numbers"
    severity = ERROR
    example = "`remote-as 4200000003` for a spine whose AS number is 4200000001"
    remediation = "set the planned AS number"
    kinds = (ASN,)


class AddressFamilies(StateCheck):
    """Tests whether an established session carries its planned address family.

    A session can be established for IPv4 only: then it carries no EVPN routes, and tenants have no path between leaves.
    """

    id = "FAB360"
    title = "Sessions carry the planned address family"
    severity = ERROR
    example = "an EVPN session that negotiated `ipv4` only"
    remediation = "activate the address family at both ends"
    kinds = (FAMILY,)


class NoOtherSessions(StateCheck):
    """Tests whether a switch has BGP neighbors that are not in the plan.

    A neighbor of an earlier design may advertise routes that are not in the plan, or attract traffic.
    """

    id = "FAB361"
    title = "BGP neighbors are planned"
    severity = ERROR
    example = "a session with 192.0.2.9 that is not in the intent"
    remediation = "remove the neighbor, or add it to the intent"
    kinds = (EXTRA,)


class BfdUp(StateCheck):
    """Tests whether BFD is up on every established session of a fabric with BFD.

    Without BFD, a link that stays up but passes no packets is detected only when the hold time expires, seconds later.
    """

    id = "FAB362"
    title = "BFD is up on established sessions"
    severity = ERROR
    example = "`peerBfdInfo` with status `Down` while the session is established"
    remediation = "check that BFD is configured at both ends and no filter drops UDP 3784"
    kinds = (BFD,)


class OutputsAgree(StateCheck):
    """Tests whether outputs of one switch in several files say the same: sessions, ports and routes.

    Two collections in one folder are judged as one: what the earlier file in order says counts, and what has changed since
    then is not seen. A session or port that changed between two commands shows as well.
    """

    id = "FAB379"
    title = "Outputs of a switch do not contradict each other"
    severity = WARNING
    example = "`bgp.json` and `bgp-old.json` of one switch, with a session that is established in one of them"
    remediation = "keep one collection in the folder, and collect again"
    kinds = (CONFLICT,)


class OwnState(StateCheck):
    """Tests whether the state of a switch is its own: its neighbors are planned, and no content names another switch.

    A file in the wrong folder, or two switches with exchanged management addresses, make every other finding wrong; the
    state of that switch is not judged.
    """

    id = "FAB380"
    title = "The state of a switch is its own"
    severity = ERROR
    example = "the folder of `leaf001` has the outputs of `leaf002`"
    remediation = "check host name and management address, and collect again"
    kinds = (FOREIGN,)


class RouterIds(StateCheck):
    """Tests whether the BGP identifier of a switch is the planned one.

    Two neighbors with one identifier refuse their session, and a route reflector drops routes that carry its own.
    """

    id = "FAB381"
    title = "Switches have the planned router ID"
    severity = ERROR
    example = "`leaf002` with the router ID of `leaf001`"
    remediation = "set the planned router ID"
    kinds = (ROUTER_ID,)


# --- routes of the default table ------------------------------------------------------------------------------


class OwnPrefix(StateCheck):
    """Tests whether the loopback and tunnel addresses of a switch are in its own routing table.

    Without them the switch cannot advertise them: EVPN sessions to the loopback and tunnels to the VTEP fail.
    """

    id = "FAB363"
    title = "A switch has its own loopbacks"
    severity = ERROR
    example = "`Loopback1` of a leaf has no address"
    remediation = "restore the loopback and its address"
    kinds = (HOME,)


class RoutesPresent(StateCheck):
    """Tests whether every planned prefix is in the routing table of every switch with a path to it.

    Only established sessions are considered, so a route that is missing because of a session is not reported. The finding is
    at the switch that does not advertise the prefix to any neighbor, else at the switch that lacks it although others have
    it; switches behind it are not reported.
    """

    id = "FAB364"
    title = "Planned prefixes are in the table"
    severity = ERROR
    example = "a prefix list of a spine drops the loopback of a new leaf"
    remediation = "check the policies of both ends of the session"
    kinds = (ROUTE,)


class EqualPaths(StateCheck):
    """Tests whether every planned prefix has the planned number of equal-cost next hops.

    A prefix over three of four spines loads these by a third more and leaves the fourth idle. The finding names the unused
    interface and the switch behind it.
    """

    id = "FAB365"
    title = "Prefixes have the planned number of equal-cost paths"
    severity = ERROR
    example = "`maximum-paths 1` on one leaf"
    remediation = "compare `maximum-paths` and the import policies of all neighbors"
    kinds = (PATHS,)


class AcceptedPrefixes(StateCheck):
    """Tests whether a session accepts at least the planned number of prefixes.

    It is applied if the routing table of a switch was not collected: an established session may carry no routes.
    """

    id = "FAB366"
    title = "Sessions accept the planned prefixes"
    severity = ERROR
    example = "a session with 3 accepted prefixes where 66 are planned"
    remediation = "check the import policy of this end and the export policy of the other"
    kinds = (ACCEPTED,)


# --- EVPN and VXLAN -------------------------------------------------------------------------------------------


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


# --- bonds over two leaves ------------------------------------------------------------------------------------


class EthernetSegments(StateCheck):
    """Tests whether every bond over two leaves is an Ethernet segment of exactly these leaves, and up.

    If one leaf has no segment, or another identifier, the other leaves send packets for the server to one leaf only, and
    broadcasts return to it. A segment whose ports are all down is not reported: the ports are.
    """

    id = "FAB383"
    title = "Ethernet segments are those of both leaves of a bond"
    severity = ERROR
    example = "backend-leaf002 is not in the segment of bond 3 at backend-leaf001"
    remediation = "check the identifier and the route target of the segment at both leaves, and their EVPN sessions"
    kinds = (SEGMENT,)


class DesignatedForwarder(StateCheck):
    """Tests whether the leaves of an Ethernet segment have elected one designated forwarder, the same at both.

    Only the designated forwarder sends broadcasts to the server: with two it gets each twice, with none it gets none.
    """

    id = "FAB384"
    title = "An Ethernet segment has one designated forwarder"
    severity = ERROR
    example = "both leaves of a bond say that they are the designated forwarder"
    remediation = "check the election algorithm and preference at both leaves, and their routes of type 4"
    kinds = (FORWARDER,)


class PreferredForwarder(StateCheck):
    """Tests whether the leaf with the higher planned preference is the designated forwarder of its Ethernet segments.

    The plan alternates the preference over the bonds of a pair of leaves, so that both send broadcasts. Elections without a
    preference are not compared.
    """

    id = "FAB385"
    title = "The preferred leaf is the designated forwarder"
    severity = WARNING
    example = "the preferences of a bond are swapped at its two leaves"
    remediation = "set the planned preference of the segment at both leaves"
    kinds = (PREFERRED,)


class PairOfLeaves(StateCheck):
    """Tests the vPC domain of two leaves: the peer, its keepalive, the peer link, and consistent configurations.

    Without the peer link the secondary leaf shuts its bonds down; without the keepalive both leaves forward when the peer
    link fails. What both leaves show is one finding.
    """

    id = "FAB386"
    title = "The two leaves of a vPC domain are peers"
    severity = ERROR
    example = "the peer link of a vPC domain is down"
    remediation = "check the keepalive address, the peer link and `show vpc consistency-parameters global`"
    kinds = (PAIR,)


class PairedBonds(StateCheck):
    """Tests whether every planned bond of a vPC domain is a vPC that is up and consistent at its two leaves.

    A bond whose ports are all down is not reported: the ports are.
    """

    id = "FAB387"
    title = "The bonds of a vPC domain are up"
    severity = ERROR
    example = "a vPC has other VLANs at the second leaf"
    remediation = "check `show vpc consistency-parameters vpc` at both leaves"
    kinds = (PAIRED_BOND,)
