"""Prefix lists and policies of a Junos config."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.model.facts import Facts, Located, PrefixRule
from fabric.nos.junos.read.groups import matching
from fabric.nos.junos.read.tree import Node
from fabric.nos.reading import Entry, add_policies, integer, prefix, settle


def read_policies(facts: Facts, root: Node) -> None:
    for name, node in root.at("policy-options", "prefix-list").items():
        facts.prefixes[name] = list(_prefixes(node, root))
    for name, node in root.at("policy-options", "route-filter-list").items():
        facts.rules[name] = [parsed for network, how in node.items() for parsed in _entries(network, how)]
    settle(facts)

    for name, node in root.at("policy-options", "policy-statement").items():
        add_policies(facts, _terms(name, node))


def _terms(name: str, policy: Node) -> Iterator[Entry]:
    """The terms that accept. A policy that ends without a verdict on what is left lets BGP's routes through.

    So does a policy that leaves routes to the next one (`next policy`) or to a default action.
    """
    verdict = leaves = False
    for term in (*policy.at("term").values(), policy):
        conditions, ends = term.at("from"), term.at("then")
        at = ends.at("reject") if "reject" in ends else term
        entry = Entry(name=name, permits="accept" in ends, line=at.line, file=at.file)
        for word, part in conditions.items():
            if word in ("route-filter-list", "prefix-list"):
                entry.lists += part.every()
            elif word != "protocol":
                entry.narrowed = True
        if "accept" in ends or "reject" in ends:
            verdict = verdict or not conditions
            yield entry
        leaves = leaves or "next" in ends or "default-action" in ends
    if leaves or not verdict:
        yield Entry(name=name, permits=True, line=policy.line, file=policy.file)


def _prefixes(node: Node, root: Node) -> Iterator[Located[str]]:
    """Those that stand there, and those that `apply-path` picks out of the rest of the config."""
    for parsed in node.every():
        if parsed.value != "apply-path":
            yield Located(_network(parsed.value), parsed.line, parsed.file)
    if path := node.value("apply-path"):
        for word in sorted({word for word in _picked(root, path.value.split()) if prefix(_network(word))}):
            yield Located(_network(word), path.line, path.file)


def _picked(node: Node, path: list[str]) -> Iterator[str]:
    """The words that the last wildcard of a path matches."""
    if not path:
        return
    for name, child in matching(node, path[0]):
        if len(path) > 1:
            yield from _picked(child, path[1:])
        else:
            yield name


def _network(text: str) -> str:
    return text if "/" in text else f"{text}/{128 if ':' in text else 32}"


def _entries(network: str, node: Node) -> Iterator[Located[PrefixRule]]:
    """One prefix may appear in several forms; one with the action `reject` denies. The longest match decides."""
    length = integer(network.partition("/")[2])
    seq = None if length is None else -length
    if not node:
        yield Located(PrefixRule(True, network, seq), node.line, node.file)
    for kind, bounds in node.items():
        words = tuple(bounds)
        text = _entry(network, kind, words[0] if words else "")
        yield Located(PrefixRule("reject" not in words, text, seq), bounds.line, bounds.file)


def _entry(network: str, kind: str, bounds: str) -> str:
    """`10.0.0.0/15 prefix-length-range /32-/32` → `10.0.0.0/15 ge 32`."""
    longest = 128 if ":" in network else 32
    low, _, high = bounds.replace("/", "").partition("-")
    if kind == "prefix-length-range":
        return f"{network} ge {low}" + ("" if high == str(longest) else f" le {high}")
    if kind == "upto":
        return f"{network} le {low}"
    if kind == "orlonger":
        return f"{network} le {longest}"
    if kind == "longer":
        length = network.partition("/")[2]
        return f"{network} ge {int(length) + 1}" if length.isdecimal() else network
    return network
