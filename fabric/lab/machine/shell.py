"""A shell of a switch in a lab, in which the lines of generated files work as they are.

It has the network namespace of the switch and mounts of its own: /etc is the disk of the switch, with users, groups and
libraries of the machine, and stand-ins are the first programs that it finds.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from fabric.lab.machine.disk import Disk
from fabric.lab.machine.namespaces import NETNS

# $1 disk, $2 name. Mounts of its own are not seen outside; those of network namespaces that it makes are.
_SCRIPT = """
set -e
hostname "$2"
for place in /etc "$1"; do mount --make-private "$(findmnt -n -o TARGET -T "$place")"; done
mount --bind /etc "$1/host"
mount --bind "$1/etc" /etc
cd "$1/root"
exec bash --norc --noprofile
"""
HERE = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")
MARK = "\x1e"
REPLY = re.compile(rf"{MARK}(\d+){MARK}\n")
LONGEST_S = 120.0


class EndedError(Exception):
    """The shell has ended in the middle."""


class Shell:
    """One session. It ends with the process that has it, as a session over a network does."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        namespace = disk.spaces.namespace(disk.name)
        command = ["nsenter", f"--net={NETNS / namespace}", "unshare", "--mount", "--uts", "--propagation", "unchanged"]
        command += ["sh", "-c", _SCRIPT, "sh", str(disk.folder), disk.name]
        path = f"{disk.folder}/bin:{os.environ.get('PATH', '/usr/sbin:/usr/bin:/sbin:/bin')}:/usr/sbin:/sbin"
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": path, "FABRIC_HOME": str(disk.home), "LC_ALL": "C"},
            start_new_session=True,
        )

    def run(self, statement: str, longest_s: float = LONGEST_S) -> tuple[int, str]:
        """(exit code, output) of one statement, which may be several lines. Raises EndedError."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{statement}\nprintf '{MARK}%d{MARK}\\n' $?\n".encode())
            self.process.stdin.flush()
        except OSError:
            raise EndedError from None
        text, deadline = "", time.monotonic() + longest_s
        for part in self._output(deadline):
            text += part
            if found := REPLY.search(text):
                return int(found[1]), text[: found.start()]
        raise EndedError(text)

    def _output(self, deadline: float) -> Iterator[str]:
        assert self.process.stdout is not None
        number = self.process.stdout.fileno()
        while (left := deadline - time.monotonic()) > 0:
            if select.select([number], [], [], min(left, 0.2))[0]:
                data = os.read(number, 1 << 16)
                if not data:
                    return
                yield data.decode("utf-8", "replace")

    def close(self) -> None:
        """Ends it with what runs in it; a timer goes on."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def statements(lines: Sequence[str]) -> Iterator[list[str]]:
    """Lines that a shell reads before it runs any of them: a line with its here-document."""
    rest = iter(lines)
    for line in rest:
        statement = [line]
        for end in [found[2] for found in HERE.finditer(line)]:
            for part in rest:
                statement.append(part)
                if part == end:
                    break
        yield statement
