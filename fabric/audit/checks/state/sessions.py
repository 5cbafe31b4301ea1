"""Daemons and BGP sessions as switches report them."""

from __future__ import annotations

from fabric.audit.checks import ERROR, WARNING
from fabric.audit.checks.state.family import StateCheck
from fabric.audit.verify.collection_faults import CONFLICT, FOREIGN, ROUTER_ID
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
