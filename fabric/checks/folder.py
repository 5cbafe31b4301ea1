"""Checking configs that nobody here wrote: no plan, only what the files say to each other."""

from __future__ import annotations

from fabric.checks.files import checks
from fabric.checks.files.reading import Unrecognised
from fabric.checks.files.services import HostNames
from fabric.checks.finding import NOTE, Finding
from fabric.checks.network import Network
from fabric.checks.site import Checked
from fabric.checks.verdict import Read
from fabric.nos.reading.folder import Folder
from fabric.nos.reading.recognise import beside


def check_folder(folder: Folder) -> Checked:
    """Every check that needs no plan, over all devices of a folder."""
    result = Checked()
    networks = [Network(tuple(devices)) for devices in folder.sites()]
    for check in checks():
        for network in networks:
            for part in network.islands if check.of_island else (network,):
                result.findings += check.over(part)
        result.ran.add(check.id)
    read = [facts for network in networks for facts in network.devices]
    result.findings += unrecognised(folder) + apart(folder)
    result.read.append(
        Read(
            f"configs in {folder.root}",
            folder.root,
            len(read),
            sum(len(device.files) for device in folder.devices) + len(folder.unrecognised),
            sum(facts.statements for facts in read),
            tuple(said for facts in read for said in facts.unread),
        )
    )
    return result


def unrecognised(folder: Folder) -> list[Finding]:
    """A finding for every file that no reader is for."""
    check = Unrecognised()
    return [
        Finding(check.id, NOTE if beside(path) else check.severity, "", path, 0, f"not read: {reason}", check.mend)
        for path, reason in sorted(folder.unrecognised.items())
    ]


def apart(folder: Folder) -> list[Finding]:
    """A note for every folder that is taken for a network of its own."""
    message = "has host names that another folder has too: checked as a network of its own"
    hint = "check one of them at a time if they are one network"
    return [Finding(HostNames.id, NOTE, "", path, 0, message, hint) for path in folder.apart]
