"""Values in configs, as facts write them: numbers, addresses, static routes, secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from ipaddress import ip_address, ip_interface

from fabric.base.reading import expand
from fabric.model.facts import CLEAR, ENCRYPTED, HASH, REVERSIBLE, Authentication, Route

# --- Numbers and addresses ------------------------------------------------------------------------------------

ROOT_LOGIN = "root may log in over SSH with a password"
RANGE = re.compile(r"(.*?)(?<!\d)(\d+)-(\d+)$")


@lru_cache(maxsize=4096)  # ports have most lists in common, whose numbers they then share
def numbers(text: str) -> tuple[int, ...]:
    """`1,4-6 9` → 1, 4, 5, 6, 9; words, as in `none`, are no numbers. A range of more than VLANs have is none either."""
    found: list[int] = []
    for part in text.replace(",", " ").split():
        low, _, high = part.partition("-")
        if low.isdecimal() and (not high or (high.isdecimal() and int(high) - int(low) < 4096)):
            expand(int(high or low) - int(low))
            found += range(int(low), int(high or low) + 1)
    return tuple(found)


def integer(text: str | None) -> int | None:
    """The number that a text begins with."""
    word = (text or "").split(" ", 1)[0]
    return int(word) if word.isdecimal() and len(word) < 12 else None


def asn(text: str | None) -> int | None:
    """`65000.1` and `4259840001` are one AS number."""
    high, dot, low = (text or "").partition(".")
    if dot:
        return (int(high) << 16) + int(low) if high.isdecimal() and low.isdecimal() and len(high + low) < 11 else None
    return integer(text)


def need_number(text: str) -> int:
    """ValueError for what is no number that a config could mean."""
    if not text.isdecimal() or len(text) > 10:
        raise ValueError(f"{text} is no number")
    return int(text)


def need_asn(text: str) -> int:
    """`65000.1` counts like `4259840001`. ValueError for what is no AS number."""
    number = asn(text)
    if number is None or number >= 1 << 32:
        raise ValueError(f"{text} is no AS number")
    return number


@lru_cache(maxsize=65536)
def prefix(text: str) -> str | None:
    """`10.0.0.1/31`, `10.0.0.1 255.255.255.254` and `FD00::1/64` as facts write them; None for what is no address."""
    words = text.split()
    if len(words) >= 2 and "/" not in words[0] and "." in words[1]:
        words = [f"{words[0]}/{words[1]}"]
    if not words or "/" not in words[0]:
        return None
    address, _, length = words[0].partition("/")
    try:
        if not (length.isascii() and length.isdecimal()):  # a mask
            return str(ip_interface(words[0]))
        own, most = (address, 32) if is_ipv4(address) else (ip_address(address), 128)
    except ValueError:
        return None
    return f"{own}/{int(length)}" if len(length) < 4 and int(length) <= most else None


_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = re.compile(rf"(?:{_OCTET}\.){{3}}{_OCTET}")


def is_ipv4(text: str) -> bool:
    """Whether a text is an IPv4 address, by a pattern: `ipaddress` takes ten times as long."""
    return _IPV4.fullmatch(text) is not None


@lru_cache(maxsize=65536)
def is_address(text: str) -> bool:
    """Whether a text is an address without a length."""
    if is_ipv4(text):
        return True
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def mac(text: str) -> str:
    """`0200.0000.0001`, `02:00:00:00:00:01` and `02-00-…` alike."""
    digits = re.sub(r"[.:-]", "", text).lower()
    return ":".join(digits[at : at + 2] for at in range(0, len(digits), 2))


def esi(text: str) -> str:
    """`0302:0000:0000:0100:0001` as ten bytes: `03:02:00:00:00:00:01:00:00:01`."""
    return mac(text)


def gbps(text: str) -> int | None:
    """`100gfull`, `forced 400g-4`, `forced 10000full` → 100, 400, 10."""
    match = re.search(r"(?<!\d)(\d{1,9})(?:g|000full)", text.lower())
    return int(match[1]) if match else None


def each_name(text: str) -> list[str]:
    """`Ethernet1-3,5` → each interface; a name without a range is itself."""
    found: list[str] = []
    stem = ""
    for part in text.replace(" ", "").split(","):
        match = RANGE.match(part)
        if match and int(match[3]) - int(match[2]) < 1024:
            expand(int(match[3]) - int(match[2]))
            stem = match[1] or stem
            found += [f"{stem}{number}" for number in range(int(match[2]), int(match[3]) + 1)]
        elif part.isdecimal() and stem:
            found.append(f"{stem}{part}")
        else:
            stem = part.rstrip("0123456789")
            found.append(part)
    return found


# --- Static routes as EOS, NX-OS and FRR write them: `ip route 10.0.0.0/8 10.1.0.1` ---------------------------

PORT = re.compile(r"[A-Za-z](?:[^\W\d]|[/.:-])*\d[\w/.:-]*")  # of a route to an interface, whatever its subnets


def static_route(
    words: Sequence[str],
    place: tuple[int, str],
    vrf: str,
    name: Callable[[str], str],
    *,
    own: str = "",
    other: str = "",
) -> Iterator[Route]:
    """The route of a statement; none where its prefix cannot be read.

    Args:
        words: what follows `ip route`.
        place: line and file.
        vrf: of the section that it is in.
        name: makes the name of a VRF in facts out of that in configs.
        own: word in front of the VRF of the route.
        other: word in front of the VRF of the next hop.
    """
    rest, named = list(words), dict[str, str]()
    for key in (own, other):
        if key and key in rest[:-1]:
            at = rest.index(key)
            named[key] = name(rest[at + 1])
            del rest[at : at + 2]
    destination = prefix(" ".join(rest[:2]))
    if destination is None:
        return
    vrf = named.get(own, vrf)
    hop, *options = rest[1 if "/" in rest[0] else 2 :] or [""]
    over_port = "onlink" in options or bool(options and PORT.fullmatch(options[0]))
    via = hop if is_address(hop) and not over_port else ""
    line, file = place
    yield Route(vrf=vrf, prefix=destination, via=via, table=named.get(other, vrf), line=line, file=file)


# --- Secrets --------------------------------------------------------------------------------------------------

# The number or word before a secret → its form. Type 3 (3DES) and 7 have keys that are public, 6 and 8a the key of a device.
KINDS = {
    "0": CLEAR,
    "3": REVERSIBLE,
    "4": HASH,
    "5": HASH,
    "6": ENCRYPTED,
    "7": REVERSIBLE,
    "8": HASH,
    "8a": ENCRYPTED,
    "9": HASH,
    "10": HASH,
    "sha512": HASH,
}
CRYPT = re.compile(r"\$(?:\d\w*|y|gy|sha1|md5|argon2\w*|pbkdf2\S*)[$,]", re.I)  # as crypt(5) writes a hash
OF_TRAPS = "SNMP community of traps"
PLACEHOLDER = re.compile(
    r"\$\{.*|\{\{.*|<.*|%\w+%|\$[a-z_]\w*|[*x.]*|!!?|\W*(?:hidden|masked|omitted|redacted|removed|scrubbed)\W*", re.I | re.S
)


def placeholder(text: str) -> bool:
    """Whether a secret is a placeholder, `${NAME}`, `{{ name }}` or `<removed>`, or no login is possible with it."""
    return bool(PLACEHOLDER.fullmatch(text.strip("\"'")))


def form_of(text: str, kind: str = "") -> str:
    """How a secret is stored, by the number or word before it, else by its own beginning."""
    return KINDS.get(kind.lower()) or (HASH if CRYPT.match(text.strip("\"'")) else CLEAR)


def typed(words: list[str]) -> tuple[str, str]:
    """(kind, secret) of the words that end a line: `7 0822455D0A16`, `0822455D0A16`."""
    return (words[-2] if len(words) > 1 and words[-2].lower() in KINDS else "", words[-1]) if words else ("", "")


def community(writes: bool) -> str:
    """Words for an SNMP community; its text is a password."""
    return f"SNMP community ({'read-write' if writes else 'read-only'})"


# --- Logins ---------------------------------------------------------------------------------------------------

LOGIN_METHODS = {"tacacs+": "tacacs", "tacplus": "tacacs", "password": "local"}  # network OS → as findings call it


def login_order(words: Iterable[str]) -> str:
    """The methods of a login, `tacacs, local`; "" where it asks for users of the switch alone."""
    order = [LOGIN_METHODS.get(word, word) for word in words]
    return "" if order == ["local"] else ", ".join(order)


# --- Authentication of BGP sessions, so that both ends can be compared ----------------------------------------


def password(text: str, *, encrypted: bool = False) -> Authentication:
    """MD5 authentication with a password; only one in clear text is compared with that of the other end."""
    comparable = not encrypted and not placeholder(text)
    return Authentication("MD5", sha256(text.strip("\"'").encode()).hexdigest() if comparable else "")
