"""Routes of the default table as switches report them."""

from __future__ import annotations

from fabric.checks import ERROR
from fabric.checks.state.family import StateCheck
from fabric.verify.route_faults import ACCEPTED, HOME, PATHS, ROUTE


class OwnPrefixes(StateCheck):
    """Tests whether loopback and tunnel address of a switch are in its own table.

    Without them the switch cannot announce them: EVPN sessions to the loopback and tunnels to the VTEP have no target.
    """

    id = "FAB363"
    title = "A switch has its own loopbacks"
    severity = ERROR
    example = "`Loopback1` of a leaf has no address"
    remediation = "restore the loopback and its address"
    kinds = (HOME,)


class RoutesPresent(StateCheck):
    """Tests whether every planned prefix is in the table of every switch that has a way to it.

    Only sessions that are established count: what a session that is down explains is not reported. The finding is at the
    neighbor from which no switch has the prefix, else at the switch that lacks what others have; switches behind it are not
    reported.
    """

    id = "FAB364"
    title = "Planned prefixes are in the table"
    severity = ERROR
    example = "a prefix list of a spine drops the loopback of a new leaf"
    remediation = "check the policies of both ends of the session"
    kinds = (ROUTE,)


class EqualPaths(StateCheck):
    """Tests whether every planned prefix has its planned number of equal-cost next hops.

    A prefix over three of four spines loads them by a third more and leaves the fourth idle. The finding names the
    interface that is not used and the switch behind it.
    """

    id = "FAB365"
    title = "Prefixes have the planned number of equal-cost paths"
    severity = ERROR
    example = "`maximum-paths 1` on one leaf"
    remediation = "compare `maximum-paths` and the import policies of all neighbors"
    kinds = (PATHS,)


class AcceptedPrefixes(StateCheck):
    """Tests whether a session accepts at least the prefixes that the plan routes over it.

    Runs where the table of a switch was not collected: a session may be established and carry nothing.
    """

    id = "FAB366"
    title = "Sessions accept the planned prefixes"
    severity = ERROR
    example = "a session with 3 accepted prefixes where 66 are planned"
    remediation = "check the import policy of this end and the export policy of the other"
    kinds = (ACCEPTED,)
