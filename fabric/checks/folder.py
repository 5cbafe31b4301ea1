"""Checking third-party configs: no plan, the files are compared with each other."""

from __future__ import annotations

from fabric.checks.base import FilesCheck
from fabric.checks.files.reading import FolderCheck
from fabric.checks.files.services import HostNames
from fabric.checks.finding import NOTE, Finding
from fabric.checks.network import Network
from fabric.checks.registry import ids, run
from fabric.checks.site import Checked
from fabric.checks.verdict import Read
from fabric.nos.reading import Folder


def check_folder(folder: Folder) -> Checked:
    """Every check that needs no plan, over all devices of a folder."""
    result = Checked()
    networks = [Network(tuple(devices)) for devices in folder.sites()]
    for network in networks:
        result.findings += run(FilesCheck, network)
    result.ran |= ids("files")
    read = [facts for network in networks for facts in network.devices]
    result.findings += run(FolderCheck, folder) + apart(folder)
    result.read.append(
        Read(
            f"configs in {folder.root}",
            folder.root,
            len(read),
            sum(len(device.files) for device in folder.devices) + len(folder.unrecognised),
            sum(facts.statements for facts in read),
            tuple(fact for facts in read for fact in facts.unread),
        )
    )
    return result


def apart(folder: Folder) -> list[Finding]:
    """A note for every folder that is taken for a network of its own."""
    message = "checked as a separate network: another folder has the same host names"
    hint = "check one folder at a time if both contain configs of the same network"
    return [Finding(HostNames.id, NOTE, "", path, 0, message, hint) for path in folder.apart]
