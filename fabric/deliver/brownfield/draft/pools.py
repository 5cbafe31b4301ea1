"""Pools and ranges of AS numbers that hold the numbers of a network: the usual ones, else prefixes around what is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_interface, ip_network
from typing import Any

from fabric.deliver.brownfield.survey.records import Survey, Switch
from fabric.model.plan import LEAF, PRIVATE_2_BYTE, PRIVATE_4_BYTE, SPINE

Net = IPv4Network | IPv6Network
KINDS = ("loopback", "loopback6", "vtep", "p2p", "servers", "management")
SPREAD = 4  # a pool has room for so many times the numbers that are there
UNUSED = tuple(map(ip_network, ("10.255.240.0/20", "172.31.240.0/20", "192.168.240.0/20")))  # for addresses no file has
SMALLEST = {4: 24, 6: 64}  # length of the smallest pool that is made


def addresses(survey: Survey) -> dict[str, dict[str, list[int]]]:
    """Fabric → kind → addresses in use, sorted."""
    found: dict[str, dict[str, set[int]]] = {name: {kind: set() for kind in KINDS} for name in survey.fabrics}
    fabric_of = {}
    for name, switches in survey.fabrics.items():
        for switch in switches:
            fabric_of[switch.name] = name
            for kind in ("loopback", "loopback6", "vtep", "management"):
                if text := getattr(switch, kind).partition("/")[0]:
                    found[name][kind].add(int(ip_address(text)))
    for cable in survey.cables:
        if cable.b in fabric_of:
            inside = cable.a in fabric_of and cable.a_ref is not None
            kind = "p2p" if inside and fabric_of[cable.a] == fabric_of[cable.b] else "servers"
            of = found[fabric_of[cable.b]][kind]
            of |= {int(ip_address(text.partition("/")[0])) for text in (cable.a_address, cable.b_address) if text}
    return {name: {kind: sorted(its) for kind, its in of.items()} for name, of in found.items()}


def pools(
    survey: Survey,
    usual: Mapping[str, Mapping[str, Sequence[str]]],
    room: Mapping[str, Mapping[str, int]],
    *,
    pinned: int = 0,
) -> dict[str, Any]:
    """What an intent states of its pools: for the whole site below "", else by fabric; nothing where the usual ones do.

    Args:
        usual: fabric → kind → prefixes without any statement.
        room: fabric → kind → addresses that a plan takes.
        pinned: addresses outside the pool of the others that are pinned, per fabric and kind.
    """
    used = addresses(survey)
    listed = {name: _listed(switches) for name, switches in survey.fabrics.items()}
    stated: dict[str, dict[str, Any]] = {name: {} for name in used}
    everything = sorted({number for of in used.values() for its in of.values() for number in its})
    nets = _management(survey)
    chosen: list[tuple[str, Net]] = []
    for kind in KINDS:
        foreign = sorted(number for of in used.values() for other, its in of.items() if other != kind for number in its)
        by_list = {name: named(of[kind], foreign, listed[name]) for name, of in used.items() if kind != "management"}
        if kind == "loopback":
            by_list, of_vteps = _apart(by_list, used, usual)
            chosen += [("vtep", net) for nets_of in of_vteps.values() for net in nets_of]
            for name, nets_of in of_vteps.items():
                stated[name] |= {} if [*map(str, nets_of)] == [*usual[name]["vtep"]] else {"vtep": _stated(nets_of)}
        lacking = {
            name: of[kind]
            for name, of in used.items()
            if (
                of[kind]
                and (kind == "management" and nets.get(name) and [str(net) for net in nets[name]] != [*usual[name][kind]])
            )
            or (of[kind] and not _fits(kind, of[kind], usual[name].get(kind, ()), pinned))
            or (by_list.get(name) and {*map(str, by_list[name])} != {*usual[name].get(kind, ())})
        }
        together = sorted({number for name, its in lacking.items() if not by_list.get(name) for number in its})
        others = [net for other, net in chosen if other != kind]
        shared = None
        if len(lacking) > 1 and not (kind == "management" and nets) and not any(by_list.get(name) for name in lacking):
            apart = sum(_cover(its, SPREAD).num_addresses for its in lacking.values())
            shared = _one(together, everything, others, sum(room.get(name, {}).get(kind, 0) for name in lacking))
            shared = shared if shared and shared.num_addresses <= 4 * apart else None
        for name, numbers in sorted(lacking.items(), key=lambda its: not by_list.get(its[0])):  # a list may name all of them
            least = room.get(name, {}).get(kind, 1)
            if by_list.get(name):
                found = by_list[name]
            elif shared:
                found = [shared]
            elif kind == "management" and nets.get(name):
                found = nets[name]
            else:
                same = [net for other, net in chosen if other == kind]
                found = _around(numbers, everything, others, same, least)
            chosen += [(kind, net) for net in found]
            stated[name][kind] = _stated(found)
    result = _shared(stated, used)
    if not any(of["management"] for of in used.values()):
        taken = [net for _, net in chosen] + _subnets(survey)
        given = next((prefix for of in usual.values() for prefix in of.get("management", ())), "")
        if given and any(_meet(ip_network(given), net) for net in taken):
            free = [str(net) for net in UNUSED if not any(_meet(net, other) for other in taken)]
            result[""] |= {"management": free[0]} if free else {}
    return result


def _subnets(survey: Survey) -> list[Net]:
    """Every subnet that switches have an address or a gateway in."""
    facts = [switch.facts for switch in survey.switches.values() if switch.facts is not None]
    ports = [port for its in facts for port in its.interfaces.values()]
    texts = {its.value for port in ports for its in (*port.addresses, *port.gateways)}
    return [ip_network(text, strict=False) for text in sorted(texts)]


def _stated(nets: Sequence[Net]) -> Any:
    """Prefixes as an intent states them."""
    texts = [str(net) for net in nets]
    return texts[0] if len(texts) == 1 else texts


def _listed(switches: Sequence[Switch]) -> list[list[tuple[Net, str]]]:
    """Prefix lists that several switches of a fabric have, or its only one: their prefixes with lengths, "ge 32"."""
    having = Counter[tuple[str, ...]]()
    known = [its.facts.prefixes.values() for its in switches if its.facts is not None]
    for lists in known:
        having.update({tuple(entry.value for entry in entries) for entries in lists})
    most = [texts for texts, count in having.items() if count > 1 or len(known) == 1]
    found = [[(text.partition(" ")[0], text.partition(" ")[2]) for text in texts] for texts in sorted(most)]
    return [[(ip_network(net, strict=False), lengths) for net, lengths in rows if _is_net(net)] for rows in found]


def _is_net(text: str) -> bool:
    try:
        return ip_network(text, strict=False).prefixlen > 0
    except ValueError:
        return False


def _apart(
    by_list: Mapping[str, list[Net]], used: Mapping[str, Mapping[str, Sequence[int]]], usual: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, list[Net]], dict[str, list[Net]]]:
    """Listed prefixes of loopbacks, and those behind them without any, which are of VTEPs where no leaf has an own one."""
    loopbacks, vteps = dict(by_list), dict[str, list[Net]]()
    for name, nets in by_list.items():
        last = max((at for at, net in enumerate(nets, 1) if _inside(used[name]["loopback"], [str(net)])), default=len(nets))
        if last < len(nets) and usual[name].get("vtep") and not used[name]["vtep"]:
            loopbacks[name], vteps[name] = nets[:last], nets[last:]
    return loopbacks, vteps


def named(numbers: Sequence[int], foreign: Sequence[int], listed: Sequence[Sequence[tuple[Net, str]]]) -> list[Net]:
    """The prefixes of a list that hold all of some numbers and no others, and what is listed beside them in the same way.

    Numbers that the list has by themselves are pinned: their pool holds the others, else it is listed first.
    """
    every = numbers
    for rows in listed if numbers else ():
        pinned = {int(net.network_address) for net, lengths in rows if not lengths and net.num_addresses == 1}
        numbers = [number for number in every if number not in pinned]
        if not numbers:
            first = next((net for net, lengths in rows if lengths and not _inside(foreign, [str(net)])), None)
            return [first] if first is not None else []
        found: list[Net] = []
        lengths: set[str] = set()
        for net, own in rows:
            beside = bool(found) and own in lengths and rows[rows.index((net, own)) - 1][0] == found[-1]
            if own and (_inside(numbers, [str(net)]) or beside) and not _inside(foreign, [str(net)]):
                found.append(net)
                lengths.add(own)
        if found and _inside(numbers, [str(net) for net in found]) == len(numbers):
            return [net for net in found if not any(_meet(net, its) and net.prefixlen < its.prefixlen for its in found)]
    return []


def _fits(kind: str, numbers: Sequence[int], prefixes: Sequence[str], pinned: int) -> bool:
    """Whether pools hold some numbers, but for a few that can be pinned."""
    inside = _inside(numbers, prefixes)
    may = pinned if inside and kind in ("loopback", "management") else 0
    return len(numbers) - inside <= may


def _inside(numbers: Iterable[int], prefixes: Sequence[str]) -> int:
    nets = [ip_network(prefix) for prefix in prefixes]
    spans = [(int(net.network_address), int(net.broadcast_address)) for net in nets]
    return sum(any(low <= number <= high for low, high in spans) for number in numbers)


def _management(survey: Survey) -> dict[str, list[Net]]:
    """Fabric → subnets of the management ports, as their addresses have them."""
    found: dict[str, list[Net]] = {}
    for name, switches in survey.fabrics.items():
        nets = {ip_interface(its.management).network for its in switches if "/" in its.management}
        if all(net.prefixlen < net.max_prefixlen for net in nets):
            found[name] = sorted(nets, key=lambda net: (net.version, int(net.network_address)))
    return found


def _around(
    numbers: Sequence[int], everything: Sequence[int], others: Sequence[Net], same: Sequence[Net], least: int
) -> list[Net]:
    """Prefixes around some numbers that hold no others: one with room to grow, else the smallest, else several.

    Args:
        others, same: pools of other kinds, and of the same kind, that are chosen already.
        least: addresses that a pool has.
    """
    for net in same:
        if _inside(numbers, [str(net)]) == len(numbers):
            return [net]
    if one := _one(numbers, everything, others, least):
        return [one]
    half = _widest_gap(numbers)
    if not half:
        return [_cover(numbers, 1)]
    return [net for part in (numbers[:half], numbers[half:]) for net in _around(part, everything, others, same, 1)]


def _one(numbers: Sequence[int], everything: Sequence[int], others: Sequence[Net], least: int = 1) -> Net | None:
    """A prefix around some numbers that holds no others and meets no other pool, with room to grow if there is any."""
    own = set(numbers)
    for room in (SPREAD, 2, 1):
        for size in dict.fromkeys((least, 1)):
            net = _cover(numbers, room, size)
            low, high = int(net.network_address), int(net.broadcast_address)
            foreign = any(low <= number <= high and number not in own for number in everything)
            if net.prefixlen >= 4 and not foreign and not any(_meet(net, other) for other in others):
                return net
    return None


def _meet(one: Net, other: Net) -> bool:
    return one.version == other.version and one.overlaps(other)


def _cover(numbers: Sequence[int], room: int, least: int = 1) -> Net:
    """The smallest prefix around some numbers that has room for so many times their span, and for `least` of them."""
    six = numbers[-1] >= 2**32
    bits = 128 if six else 32
    span = max(least, numbers[-1] - numbers[0] + 1) * room
    length = min(bits - (span - 1).bit_length(), SMALLEST[6 if six else 4] if room > 1 else bits)
    length = max(0, length)
    while length and numbers[0] >> (bits - length) != numbers[-1] >> (bits - length):
        length -= 1
    base = numbers[0] >> (bits - length) << (bits - length)
    return ip_network((base, length)) if not six else IPv6Network((base, length))


def _widest_gap(numbers: Sequence[int]) -> int:
    """Place behind the widest gap between two numbers, 0 for a single one."""
    gaps = [(numbers[at] - numbers[at - 1], at) for at in range(1, len(numbers))]
    return max(gaps)[1] if gaps else 0


def _shared(stated: dict[str, dict[str, Any]], used: Mapping[str, Mapping[str, Sequence[int]]]) -> dict[str, Any]:
    """Pools that all fabrics have in common are those of the site."""
    result: dict[str, Any] = {"": {}}
    for kind in KINDS:
        having = [name for name in stated if used[name][kind]]
        texts = {str(stated[name].get(kind, "")) for name in having}
        if len(having) > 1 and len(texts) == 1 and texts != {""}:
            result[""][kind] = stated[having[0]][kind]
            for name in having:
                stated[name].pop(kind)
    return result | {name: its for name, its in stated.items() if its}


# --- AS numbers -----------------------------------------------------------------------------------------------


def asn_schemes(survey: Survey, fabric: str) -> list[dict[str, Any]]:
    """The statements about AS numbers that may hold in a fabric, the shortest first."""
    switches = [its for its in survey.fabrics[fabric] if its.asn]
    if not switches:
        return [{}]
    of_pod: dict[tuple[str, int], set[int]] = {}
    for its in switches:
        if its.role != LEAF:
            of_pod.setdefault((its.role, its.pod if its.role == SPINE else -1), set()).add(its.asn)
    several = any(sum(its.role == role for its in switches) > 1 for role, _ in of_pod)
    apart = several and all(len(its) > 1 for key, its in of_pod.items() if _members(switches, key) > 1)
    scheme = {"scheme": "per-device"} if apart else {"scheme": "per-pair"} if _of_pairs(switches) else {}
    numbers = sorted({its.asn for its in switches})
    found: list[dict[str, Any]] = []
    private = [
        ({}, PRIVATE_4_BYTE),
        ({"width": 2}, PRIVATE_2_BYTE),
    ]
    for keys, (first, last) in private:
        inside = sum(first <= number <= last for number in numbers)
        if inside == len(numbers):
            found.append({**scheme, **keys})
    low, high = numbers[0], numbers[-1]
    found.append({**scheme, "ranges": _range(low, high)})
    return found


def _of_pairs(switches: Sequence[Switch]) -> bool:
    """Whether most pairs of leaves below spines have one AS number, which no other leaf has."""
    if not any(its.role == SPINE for its in switches):
        return False
    asn = {its.name: its.asn for its in switches if its.role == LEAF}
    pairs = [
        (asn[its.name], asn[its.pair]) for its in switches if its.pair > its.name and its.pair in asn and its.name in asn
    ]
    of = Counter(asn.values())
    return 2 * sum(a == b and of[a] == 2 for a, b in pairs) > len(pairs)


def _members(switches: Sequence[Any], key: tuple[str, int]) -> int:
    role, pod = key
    return sum(its.role == role and (its.pod if role == SPINE else -1) == pod for its in switches)


def _range(low: int, high: int) -> str:
    """A range from the lowest number, with room for as many again where they stay of one kind."""
    for first, last in (PRIVATE_2_BYTE, PRIVATE_4_BYTE):
        if first <= low and high <= last:
            return f"{low}-{min(last, max(high + (high - low) + 64, low + 255))}"
    return f"{low}-{high}"
