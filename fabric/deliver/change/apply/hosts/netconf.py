"""Lines of a candidate config over NETCONF, by ncclient: locked, loaded, compared, checked, committed with a time to confirm.

A line is an operation where the data of the network OS says so; every other line is of the config.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fabric.deliver.change.apply.connection import Answer, UnreachableError
from fabric.deliver.change.apply.hosts.inventory import Host
from fabric.deliver.change.apply.hosts.ssh import CONNECT_S, READ_S, reason, running_files

if TYPE_CHECKING:
    from ncclient.manager import Manager

PORT = 830
PERSISTENT = ":confirmed-commit:1.1"


class Netconf:
    """A connection; `type` and `running` are those of `Connection`.

    A confirmed commit of a server without persist-ids ends with its session: such a session is kept until it is confirmed.
    """

    def __init__(self, host: Host, read_s: float = READ_S) -> None:
        """Connects. Raises UnreachableError."""
        self.host, self.read_s = host, read_s
        self.pending = self.locked = False
        self.manager = self._connected()

    def _connected(self) -> Manager:
        from ncclient import manager

        login = self.host.login
        with tempfile.NamedTemporaryFile("w", suffix=".ssh") as settings:
            settings.write(f"Host *\n  UserKnownHostsFile {login.known_hosts}\n")
            settings.flush()
            try:
                return manager.connect(
                    host=self.host.address,
                    port=self.host.port or PORT,
                    username=login.username,
                    password=login.password,
                    key_filename=str(login.key) if login.key else None,
                    hostkey_verify=True,
                    allow_agent=login.password is None,
                    look_for_keys=login.password is None,
                    timeout=CONNECT_S,
                    ssh_config=settings.name,
                    device_params={"name": self.host.session.client or "default"},
                    manager_params={"timeout": self.read_s},
                )
            except Exception as error:
                raise UnreachableError(f"{self.host}: {reason(error, self.host)}") from error

    @property
    def is_kept(self) -> bool:
        """Whether the session must not end yet."""
        return self.pending and self.is_alive and not self._is_persistent

    @property
    def is_alive(self) -> bool:
        return bool(self.manager.connected)

    @property
    def _is_persistent(self) -> bool:
        return self.manager.server_capabilities is not None and any(
            PERSISTENT in capability for capability in self.manager.server_capabilities
        )

    # --- lines ------------------------------------------------------------------------------------------------------

    def type(self, lines: Sequence[str]) -> Answer:
        """Does what the lines of a file say."""
        from ncclient.operations import RPCError

        answered: list[str] = []
        waiting: list[str] = []
        done = 0
        try:
            for at, line in enumerate([*lines, ""]):
                operation, match = self._operation(line)
                if line and not operation:
                    waiting.append(line)
                    continue
                if waiting:
                    self._load(waiting)
                    waiting, done = [], at
                if operation:
                    answered += [text] if (text := self._do(operation, match)) else []
                    done = at + 1
        except RPCError as error:
            self._clean()
            where = lines[done].strip() if done < len(lines) else ""
            message = " ".join(str(error.message or error).split())
            return Answer(text="\n".join([*answered, message]), typed=done, refused=f"{where}: {message}")
        except Exception as error:  # whatever ncclient raises when the far end is gone
            return Answer(
                text="\n".join([*answered, f"the session ended ({type(error).__name__})"]), typed=done, dropped=True
            )
        return Answer(text="\n".join(answered), typed=len(lines))

    def _operation(self, line: str) -> tuple[str, dict[str, str]]:
        for pattern, name in self.host.session.operations.items():
            if match := re.fullmatch(pattern, line.strip()):
                return name, match.groupdict()
        return "", {}

    def _load(self, lines: Sequence[str]) -> None:
        """Into the candidate, which is locked from here: commands of the network OS, or XML of a server that has none."""
        if not self.locked:
            self.manager.lock("candidate")
            self.locked = True
        if self.host.session.client:
            self.manager.load_configuration(action="set", config=list(lines))
        else:
            self.manager.edit_config(target="candidate", config="\n".join(lines), error_option="rollback-on-error")

    def _do(self, operation: str, values: Mapping[str, str]) -> str:
        manager, is_own = self.manager, bool(self.host.session.client)
        match operation:
            case "lock":
                pass  # when lines are loaded: a commit that waits for its confirmation forbids it
            case "unlock":
                self._unlock()
            case "discard":
                manager.discard_changes()
            case "validate":
                manager.validate("candidate")
            case "compare":
                return _text(manager.compare_configuration()) if is_own else ""
            case "command":
                return _text(manager.command(command=values.get("command", ""), format="text"))
            case "confirmed":
                seconds = int(values["seconds"]) if "seconds" in values else int(values["minutes"]) * 60
                self._commit(confirmed=True, timeout=str(seconds), persist=values["name"])
                self.pending = True
            case "confirm":
                manager.discard_changes()  # what runs is confirmed, not what another session has left in the candidate
                self._commit(persist_id=values["name"])
                self.pending = False
                self._unlock()
            case "commit":
                self._commit()
                self._unlock()
        return ""

    def _commit(self, **how: Any) -> None:
        """A network OS with commands of its own has no persist-ids, and its confirmed commit outlives the session."""
        if self.host.session.client or not self._is_persistent:
            how = {key: value for key, value in how.items() if key not in ("persist", "persist_id")}
        self.manager.commit(**how)

    def _clean(self) -> None:
        """Leaves no candidate that another session would commit."""
        with suppress(Exception):
            self.manager.discard_changes()
        with suppress(Exception):
            self._unlock()

    def _unlock(self) -> None:
        if self.locked:
            self.locked = False
            self.manager.unlock("candidate")

    def running(self) -> Mapping[str, str]:
        """The files in force, by commands of their own. Raises UnreachableError."""
        return running_files(self.host, self.read_s)

    def close(self) -> None:
        """Ends the session, unless it holds a commit that is not confirmed."""
        if not self.is_kept:
            with suppress(Exception):
                self.manager.close_session()


def _text(reply: Any) -> str:
    """The text of a reply."""
    data = getattr(reply, "data_xml", None) or str(reply)
    return re.sub(r"<[^>]+>", "", data).strip()
