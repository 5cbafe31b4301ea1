"""Routes of the default table as switches report them."""

from __future__ import annotations

from fabric.audit.checks import ERROR
from fabric.audit.checks.state.family import StateCheck
from fabric.audit.verify.route_faults import ACCEPTED, HOME, PATHS, ROUTE


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
