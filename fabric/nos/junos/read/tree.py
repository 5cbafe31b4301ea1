"""The tree of a Junos config, in braces or in `set` lines: every word is a node below the word before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fabric.model.facts import Located
from fabric.nos.reading import integer
from fabric.nos.reading.sections import TOKEN, is_open, unquoted

# --- The tree -------------------------------------------------------------------------------------------------


class Node(dict[str, "Node"]):
    """Word → its node, and the line that has the word first."""

    __slots__ = ("file", "line")

    def __init__(self, line: int = 0, file: str = "") -> None:
        self.line, self.file = line, file

    def at(self, *words: str) -> Node:
        """The node below these words, an empty one if there is none."""
        node = self
        for word in words:
            found = node.get(word)
            if found is None:
                return NOTHING
            node = found
        return node

    def every(self, *words: str) -> list[Located[str]]:
        """What stands below these words: `members [ a b ]`."""
        return [Located(word, node.line, node.file) for word, node in self.at(*words).items()]

    def value(self, *words: str) -> Located[str] | None:
        """The last of them, which is the one in force: `mtu 9216`."""
        node = self.at(*words)
        word = next(reversed(node), None)
        return None if word is None else Located(word, node[word].line, node[word].file)

    def flag(self, word: str) -> Located[bool] | None:
        """A statement that is just there: `disable`."""
        node = self.get(word)
        return None if node is None else Located(True, node.line, node.file)

    def words(self) -> list[str]:
        """Every word below, in order: of statements that say several things in a line."""
        found: list[str] = []
        for word, node in self.items():
            found.append(word)
            found += node.words()
        return found

    def below(self, word: str, line: int, file: str) -> Node:
        """The node of a word, made if need be."""
        node = self.get(word)
        if node is None:
            node = self[word] = Node(line, file)
        return node


NOTHING = Node()


def remove(root: Node, path: tuple[str, ...]) -> None:
    """Takes a statement and all below it out of a tree."""
    if path:
        root.at(*path[:-1]).pop(path[-1], None)


def find(node: Node, path: str) -> Iterator[tuple[tuple[str, ...], Node]]:
    """(the words that `*` stands for, the node) of every path like `protocols bgp group *`."""
    found: list[tuple[tuple[str, ...], Node]] = [((), node)]
    for word in path.split():
        if word == "*":
            found = [((*names, name), child) for names, part in found for name, child in part.items()]
        else:
            found = [(names, part[word]) for names, part in found if word in part]
    yield from found


def number(parsed: Located[str] | None) -> Located[int] | None:
    """The same as a number, None for a word that is none."""
    value = integer(parsed.value) if parsed else None
    return None if parsed is None or value is None else Located(value, parsed.line, parsed.file)


def logical(name: str) -> str:
    """`et-0/0/0.0` is filed under its port, other units keep their number; a name without a unit means unit 0."""
    return name.removesuffix(".0")


# --- The text -------------------------------------------------------------------------------------------------

# Commands that a line may begin with; those of the second row change nothing that is read here, of the first row only the
# first four are followed.
VERBS = frozenset(["set", "delete", "deactivate", "activate", "copy", "edit", "rename", "replace", "up", "wildcard"])
IDLE_VERBS = frozenset(["annotate", "commit", "configure", "exit", "insert", "protect", "quit", "show", "top", "unprotect"])
SHORT = {"del": "delete"}  # as people type them
PREFIXES = frozenset(("inactive:", "delete:", "replace:", "protect:"))
SIGNS = frozenset("{};")
MOST_WORDS = 64  # from the root to a leaf; no statement of Junos is half as deep


@dataclass(slots=True, kw_only=True)
class Config:
    """What the files of a device say."""

    root: Node = field(default_factory=Node)
    statements: int = 0
    broken: list[Located[str]] = field(default_factory=list)
    unread: list[Located[str]] = field(default_factory=list)
    secret_lines: set[tuple[str, int]] = field(default_factory=set)  # marked `## SECRET-DATA` by the device itself
    inactive: dict[tuple[str, ...], None] = field(default_factory=dict)  # paths that `deactivate` names

    def settle(self) -> None:
        """Takes out what is deactivated, once every file is read."""
        for path in self.inactive:
            remove(self.root, path)


def read_text(config: Config, file: str, text: str) -> None:
    """Adds one file to the tree."""
    _Text(config, file, text).read()


class _Text:
    """Goes through the tokens of a file once and puts each statement into the tree when it ends."""

    def __init__(self, config: Config, file: str, text: str) -> None:
        self.config, self.file, self.text = config, file, text
        self.line = 1
        self.open: list[tuple[Node, int, str, int]] = []  # sections: node, depth, last word and line of their brace
        self.words: list[tuple[str, int]] = []  # of the statement that is being read, with their lines
        self.items: list[tuple[str, int]] = []  # of its list in brackets
        self.listing = False
        self.verb = ""  # of a command, which ends with its line

    def read(self) -> None:
        for token in TOKEN.findall(self.text):
            if token == "\n":
                self._newline()
            elif token in SIGNS:
                self._sign(token)
            elif token[0] in "#!/{[]" and self._aside(token):
                pass
            elif self.open or self.words or self.verb or not self._outside(token):
                self._word(token)
        if self.verb:
            self._command()
        if self.words:
            self._unfinished("the end of the file")
        for _, _, word, line in self.open:
            self._broken(f"the '{{' after '{shown(word)}' is never closed" if word else "a '{' that is never closed", line)

    def _newline(self) -> None:
        if self.verb:
            self._command()
        self.line += 1

    def _sign(self, sign: str) -> None:
        if self.verb:  # a command that was copied with its semicolon
            return
        if sign == "{":
            word, line = self.words[-1] if self.words else ("", self.line)
            depth = (self.open[-1][1] if self.open else 0) + len(self.words)
            self.open.append((self._enter(), depth, word, line))
        elif sign == ";":
            self._end()
        else:
            if self.words:
                self._unfinished("'}'")
            if self.open:
                self.open.pop()
            else:
                self._broken("a '}' that closes nothing", self.line)

    def _aside(self, token: str) -> bool:
        """Whether a token is a comment, the bracket of a list, or what the command line shows beside a config."""
        if token in ("[", "]"):
            self.listing = token == "[" and bool(self.words)
            return True
        if token[0] == "#" or token.startswith("/*") or (token[0] == "!" and not self.open):
            if "SECRET-DATA" in token:
                self.config.secret_lines.add((self.file, self.line))
            if token[0] == "/" and (len(token) < 4 or not token.endswith("*/")):
                self._broken("a comment that is never closed", self.line)
            self.line += token.count("\n")
            return True
        return token[0] == "{" or token.startswith("[edit")

    def _outside(self, token: str) -> bool:
        """Whether a token outside of every section begins a command, or is the prompt before one."""
        if (verb := SHORT.get(token, token)) in VERBS or verb in IDLE_VERBS:
            self.verb = verb
            return True
        return "@" in token and token[-1] in ">#%"

    def _word(self, token: str) -> None:
        if is_open(token):
            self._broken("a quote that is never closed", self.line)
            return
        if self.words and self.words[-1][1] != self.line and not (self.listing or self.verb or self.words[-1][0] in PREFIXES):
            self._unfinished(f"'{shown(token)}'")
        if self.words and token[0] == "[" and "]" not in token:  # `[a b ]`
            self.listing, token = True, token[1:]
        closes = self.listing and token[-1:] == "]" and "[" not in token  # `[ a b]`
        word = unquoted(token[:-1] if closes else token)
        (self.items if self.listing or self.items else self.words).append((word, self.line))
        self.listing = self.listing and not closes
        self.line += token.count("\n")

    def _unfinished(self, got: str) -> None:
        word, line = (self.items or self.words)[-1]
        self._broken(f"expected ';' after '{shown(word)}', got {got}", line)
        self._end()

    def _end(self) -> None:
        """Of a statement without a section."""
        if self.words:
            self.config.statements += 1
            self._enter(leaf=True)

    def _enter(self, leaf: bool = False) -> Node:
        """Puts a statement below the section that is open; inactive statements go to a tree that is not read."""
        node, depth = self.open[-1][:2] if self.open else (self.config.root, 0)
        words, items = self.words, self.items
        self.words, self.items, self.listing = [], [], False
        if depth + len(words) > MOST_WORDS:
            got, line = depth + len(words), words[-1][1] if words else self.line
            self._broken(f"expected at most {MOST_WORDS} words from the root to a value, got {got}", line)
            return Node()
        prefix = words.pop(0)[0] if words and words[0][0] in PREFIXES else ""
        if prefix in ("delete:", "replace:"):
            remove(node, tuple(word for word, _ in words))
        if prefix in ("delete:", "inactive:"):
            node = Node()
        for word, line in words[:-1]:
            node = node.below(word, line, self.file)
        if words:
            node = self._last(node, words[-1], leaf and not items)
        for item in items:
            self._last(node, item, leaf)
        return node

    def _last(self, node: Node, word: tuple[str, int], leaf: bool) -> Node:
        """A repeated value counts where it is stated last."""
        if leaf and word[0] in node and not node[word[0]]:
            del node[word[0]]
        return node.below(*word, self.file)

    def _command(self) -> None:
        verb, words, line = self.verb, self.words, self.line
        self.verb = ""
        path = tuple(word for word, _ in words + self.items)
        if verb == "set":
            self._end()
            return
        self.words, self.items, self.listing = [], [], False
        if verb in IDLE_VERBS:
            return
        self.config.statements += 1
        if verb == "delete":
            remove(self.config.root, path)
        elif verb == "deactivate":
            self.config.inactive[path] = None
        elif verb == "activate":
            self.config.inactive.pop(path, None)
        else:
            self.config.unread.append(Located(" ".join((verb, *path)), line, self.file))

    def _broken(self, message: str, line: int) -> None:
        self.config.broken.append(Located(message, line, self.file))


def shown(word: str) -> str:
    """A word as a message shows it: the begin of a long one."""
    return word if len(word) <= 40 else f"{word[:40]}…"
