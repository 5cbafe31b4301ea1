"""Entries of lists, policies and filters that nothing reaches: one above them takes all that they match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabric.audit.checks import ERROR, WARNING, Finding, Network
from fabric.audit.checks.files.refused import RefusedCheck
from fabric.model.facts import Clause, Facts, Located, PrefixRule
from fabric.nos.reading.permitted_routes import in_order, routes_of
from fabric.nos.statements.conditions import UNREACHED

ANY = "any"  # of a prefix list


class Unreached(RefusedCheck):
    """Looks for entries of prefix lists, routing policies and packet filters behind one with the opposite verdict.

    The first entry that matches decides. An entry whose routes or packets all match one above it has no effect: a `deny` for
    everything in front of the `permit` lines lets nothing through, and a `permit` for everything makes what is denied below
    it pass. Junos takes the longest match of a `route-filter-list`, whatever the order. `refused.yaml` of each network OS has
    the forms of its packet filters.
    """

    id = UNREACHED
    title = "Every entry of a list, policy or filter can match"
    severity = ERROR
    else_severity = "warning if what is denied below passes above"
    example = "`seq 5 deny 0.0.0.0/0 le 32` in front of `seq 10 permit 10.0.0.0/15 ge 32`"
    remediation = "move the entry above the one that takes its routes or packets, or remove one of the two"

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for name, rules in facts.rules.items():
                for entry, above in _rules(in_order(rules)):
                    yield self._of(facts, f"prefix list {name}", entry, above, entry.value.permits)
            for name, clauses in facts.terms.items():
                for clause, first in _clauses(clauses):
                    yield self._of(facts, f"policy {name}", clause, first, clause.value.permits)
        yield from super().check(network)

    def _of(self, facts: Facts, what: str, entry: Located[object], above: Located[object], permits: bool) -> Finding:
        verb, other = ("permit", "denies") if permits else ("deny", "permits")
        message = f"{what}: no route reaches this {verb}: the entry on line {above.line} {other} all that it matches"
        return self.finding_at(facts, entry, message, severity="" if permits else WARNING)


def _rules(rules: Sequence[Located[PrefixRule]]) -> Iterator[tuple[Located[PrefixRule], Located[PrefixRule]]]:
    """(entry, the first one above it that matches all of its routes), of another verdict."""
    if len({one.value.permits for one in rules}) < 2:
        return
    whole: Located[PrefixRule] | None = None
    above = dict[object, list[Located[PrefixRule]]]()  # prefix → entries
    for one in rules:
        routes = routes_of(one.value.text)
        taker = whole
        if taker is None and routes is not None and routes.shortest <= routes.longest:
            nets = (routes.net.supernet(new_prefix=length) for length in range(routes.net.prefixlen + 1))
            takers = (other for net in nets for other in above.get(net, ()))
            taker = next((other for other in takers if (far := routes_of(other.value.text)) and far.covers(routes)), None)
        if taker is not None and taker.value.permits != one.value.permits:
            yield one, taker
        if routes is not None:
            above.setdefault(routes.net, []).append(one)
        elif whole is None and one.value.text == ANY:
            whole = one


def _clauses(clauses: Sequence[Located[Clause]]) -> Iterator[tuple[Located[Clause], Located[Clause]]]:
    """(entry, the first one above it that all its routes match), of another verdict."""
    whole: Located[Clause] | None = None
    above = dict[str, Located[Clause]]()  # prefix list → entry that takes all its routes
    for one in clauses:
        clause = one.value
        by_list = [above.get(name) for name in clause.lists]
        takers = [whole] if whole else by_list
        verdicts = {taker.value.permits if taker else clause.permits for taker in takers}
        if verdicts == {not clause.permits} and takers[0] and (clause.lists or not clause.open):
            yield one, takers[0]
        if not (clause.narrowed or clause.open):
            whole = whole or (None if clause.lists else one)
            above.update({name: one for name in clause.lists if name not in above})
