"""One tokenizer of indented configs: readers, statements, changes and Batfish see one tree of a text, however odd it is."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from fabric.audit.diff.order import Tree, indented as tree
from fabric.base.reading import MAX_DEPTH, UnreadableError
from fabric.nos.batfish import paths as of_batfish
from fabric.nos.eos.statements import LAYOUT as EOS
from fabric.nos.frr.read.words import LAYOUT as FRR
from fabric.nos.nxos.statements import LAYOUT as NXOS
from fabric.nos.reading.sections import ANY, Layout, Section, paths, read_indented
from fabric.nos.statements.syntax import indented as statements

LAYOUTS = {"any": ANY, "EOS": EOS, "NX-OS": NXOS, "FRR": FRR}

# The layout, the text, and what it says: the sections of each line and the line, with ` / ` between them.
TRAPS: dict[str, tuple[Layout, str, list[str]]] = {
    "a tab": (ANY, "policy P\n  class C\n\tmtu 1\n", ["policy P", "policy P / class C", "policy P / class C / mtu 1"]),
    "a banner of NX-OS": (NXOS, "banner motd ^\n  keep\nvlan 3\n^\nvlan 4\n", ["banner motd ^\n  keep\nvlan 3\n^", "vlan 4"]),
    "a banner of NX-OS in one line": (NXOS, "banner motd ^keep out^\nvlan 4\n", ["banner motd ^keep out^", "vlan 4"]),
    "a banner of EOS": (EOS, "banner login\nvlan 3\n  x\nEOF\nvlan 4\n", ["banner login\nvlan 3\n  x\nEOF", "vlan 4"]),
    "a banner without an end": (EOS, "banner login\nvlan 3\n  x\n", ["banner login", "vlan 3", "vlan 3 / x"]),
    "no banner of FRR": (FRR, "banner motd file /etc/x\nhostname f\n", ["banner motd file /etc/x", "hostname f"]),
    "a secret taken out": (
        ANY,
        "router bgp 1\n!  neighbor 10.0.0.1 password <removed>\n  router-id 10.0.0.9\n",
        ["router bgp 1", "router bgp 1 / neighbor 10.0.0.1 password <removed>", "router bgp 1 / router-id 10.0.0.9"],
    ),
    "the end of a mode": (ANY, "vrf red\n  vni 1\n  exit-vrf\nexit\nvlan 2\nend\n", ["vrf red", "vrf red / vni 1", "vlan 2"]),
    "comments": (ANY, "# one\nvlan 2\n  ! two\n#three\n  name x\n", ["vlan 2", "vlan 2 / name x"]),
    "a version": (NXOS, "version 10.5(3)\nvlan 2\n", ["version 10.5(3)", "vlan 2"]),
    "a comment of a section of EOS": (EOS, "vlan 2\n   comment\n   a\n   EOF\n   name x\n", ["vlan 2", "vlan 2 / name x"]),
    "typed at EOS": (EOS, "int et1\n mtu 9000\n", ["interface Ethernet1", "interface Ethernet1 / mtu 9000"]),
    "a command of the top of FRR": (FRR, "router bgp 1\n route-map R permit 10\n", ["router bgp 1", "route-map R permit 10"]),
}  # fmt: skip


def _of_sections(section: Section, above: tuple[str, ...] = ()) -> Iterator[str]:
    for part in section.parts:
        here = (*above, part.line)
        yield " / ".join(here)
        yield from _of_sections(part, here)


def _of_tree(branch: Tree, above: tuple[str, ...] = ()) -> Iterator[str]:
    for line, below in branch.items():
        here = (*above, line)
        yield " / ".join(here)
        yield from _of_tree(below, here)


@pytest.mark.parametrize("name", TRAPS)
def test_every_view_has_one_tree(name: str) -> None:
    layout, text, wanted = TRAPS[name]
    assert [" / ".join(path) for path, _ in statements(text, layout)] == wanted
    assert list(_of_tree(tree(text, layout))) == wanted
    assert list(of_batfish(text.splitlines(), layout)) == wanted
    heads = [" / ".join(line.partition("\n")[0] for line in path.split(" / ")) for path in wanted]
    assert list(_of_sections(read_indented(text, layout))) == heads


HOSTILE: dict[str, Callable[[int], str]] = {
    "banners without an end": lambda size: "banner motd ^\n" * (size - 1) + "x",
    "banners with marks of their own": lambda size: "".join(f"banner motd {chr(0x4E00 + at)}\n" for at in range(size)),
    "banners of EOS without an end": lambda size: "banner login\n" * size,
    "comments of EOS without an end": lambda size: "vlan 2\n" + "   comment\n" * size + "x\n EOF x",
    "banners that end": lambda size: "banner motd ^\n^\n" * (size // 2),
    "one mark at the end": lambda size: "banner motd ^\nbanner exec %\n" * (size // 2) + "%",
    "tabs": lambda size: "\t" * size + "x",
    "stairs": lambda size: "".join(f"{' ' * (at % MAX_DEPTH)}x\n" for at in range(size)),
    "secrets": lambda size: "!!! <removed>\n" * size,
    "one line": lambda size: "banner motd " + "^ x" * size,
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", HOSTILE)
def test_time_and_memory_grow_with_the_text(name: str, layout: str) -> None:
    """Four times the text takes four times as long; a text that is read twice as often as that is looked at again."""
    for size in (500, 2_000, 5_000):
        small, large = (_cost(HOSTILE[name](length), LAYOUTS[layout]) for length in (size, 4 * size))
        assert large[1] < 8 * small[1] + 100_000  # bytes
        if large[0] < 8 * small[0]:
            return
    pytest.fail(f"4 times the text takes {large[0] / small[0]:.1f} times as long")


def _cost(text: str, layout: Layout) -> tuple[float, int]:
    """(seconds of the faster of two, bytes at the most) of reading a text; what is kept between texts is not used."""
    seconds = []
    for at in range(2):
        other = f"{text}\nx{at}"
        begin = time.process_time()
        for _ in paths(other, layout):
            pass
        seconds.append(time.process_time() - begin)
    tracemalloc.start()
    for _ in paths(text, replace(layout, shown=str)):
        pass
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return min(seconds), most


WORDS = st.sampled_from(
    ("banner motd ^", "banner login", "EOF", "^", "  a", "\tb", " c  d", "!", "# x", "! y <removed>", "exit", "comment", "e")
)  # fmt: skip


@given(st.lists(WORDS, max_size=12), st.sampled_from(sorted(LAYOUTS)))
def test_no_line_is_read_twice(lines: list[str], name: str) -> None:
    """Numbers rise, a path goes on from the one before it, and the lines of every statement stand in the text."""
    text = "\n".join(lines)
    above, before = (), 0
    for path, number in paths(text, LAYOUTS[name]):
        assert number > before
        assert path[:-1] == above[: len(path) - 1]
        words = path[-1].split("\n")
        shown = LAYOUTS[name].shown(text).splitlines()
        assert words[0] in shown[number - 1]
        assert words[1:] == shown[number : number + len(words) - 1]
        above, before = path, number + len(words) - 1


def test_too_many_sections() -> None:
    with pytest.raises(UnreadableError, match="at most 100 sections"):
        list(paths("".join(f"{' ' * at}x\n" for at in range(MAX_DEPTH + 1))))
