"""The state of 1,280 EOS switches: what is found of 50 faults, and the cost.

State is made from the plan: BGP, interfaces, LLDP, error, discard, PFC and queue counters, and optics of every switch, and
tables of routes of some. The cost is that of `fabric verify` as a whole, user and system seconds.

    python -m tests.audit.verify.fleet [SWITCHES WITH ROUTES]
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fabric import pipeline
from fabric.audit.verify.site import Switch
from tests.audit.drift.fleet import seconds
from tests.audit.verify.eos_state import Outputs, outputs, site_of, text

INTENT = """\
version: 1
site: fleet
catalog: {servers: {server: {gpus: 8, nics: {compute: {count: 8, speed_gbps: 400}}}}}
fabrics:
  backend:
    nos: eos
    servers: {model: server, count: 2048}
    topology: {switch: 7060dx5-64s, tiers: 3, unit: {servers: 32}}
"""
FAULTS, SEED, ROUTES = 50, 1, 64


def spoil(switch: Switch, found: Outputs, chance: random.Random) -> str:
    """Makes one fault in the outputs of a switch; what it is."""
    port = chance.choice([one for one in switch.ports.values() if one.port.kind == "fabric"])
    kind = chance.choice(("session", "asn", "speed", "fcs", "drops", "light", "lldp"))
    peers = found["bgp-summary"]["vrfs"]["default"]["peers"]
    end = next(end for end in switch.sessions if end.interface == port.name)
    row: Any = found["interfaces-status"]["interfaceStatuses"][port.name]
    match kind:
        case "session":
            peers[end.peer] |= {"peerState": "Active"}
        case "asn":
            peers[end.peer] |= {"peerAsn": "65001"}
        case "speed":
            row["bandwidth"] //= 2
        case "fcs":
            found["errors"]["interfaceErrorCounters"][port.name]["fcsErrors"] = 812
        case "drops":
            queues = found["queue-drops"]["egressQueueCounters"]["interfaces"][port.name]["ucastQueues"]["trafficClasses"]
            queues["TC3"]["dropPrecedences"]["DP0"]["droppedPackets"] = 20_114
        case "light":
            found["optics"]["interfaces"][port.name]["parameters"]["rxPower"]["channels"]["2"] = -15.0
        case "lldp":
            next(one for one in found["lldp"]["lldpNeighbors"] if one["port"] == port.name)["neighborPort"] = "Ethernet63/1"
    return f"{kind} at {port.name}"


def main() -> None:
    """Prints what was found and the cost."""
    with_routes = int(sys.argv[1]) if len(sys.argv) > 1 else ROUTES
    chance = random.Random(SEED)
    with TemporaryDirectory() as scratch:
        file, folder = Path(scratch) / "fleet.yaml", Path(scratch) / "state"
        file.write_text(INTENT, encoding="utf-8")
        site = site_of(pipeline.plan(pipeline.load(file)))
        spoiled = set(chance.sample(list(site.switches), FAULTS))
        made: dict[str, str] = {}
        size = 0
        for number, (name, switch) in enumerate(site.switches.items()):
            found = outputs(
                site, switch, routes=number % max(1, len(site.switches) // max(1, with_routes)) == 0 and with_routes > 0
            )
            if name in spoiled:
                made[name] = spoil(switch, found, chance)
            (folder / name).mkdir(parents=True)
            for part, value in found.items():
                size += (folder / name / f"{part}.json").write_text(text(value), encoding="utf-8")
        del site
        start = seconds()
        command = [sys.executable, "-c", "from fabric.cli import main; main()", "verify", str(file), str(folder), "--json"]
        state = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)
        cost = seconds() - start
    named = {finding["device"] for finding in state["findings"]}
    routes = sum("routes" in switch["judged"] for switch in state["switches"])
    summary = state["summary"]
    print(f"{summary['switches']:,} switches, {summary['files']:,} files, {size / 1e6:.0f} MB, tables of {routes}")
    others = len(named - spoiled)
    print(f"{len(named & spoiled)} of {FAULTS} spoiled switches named, {others} others, {len(state['findings'])} findings")
    print(f"{cost:.1f} s of CPU")
    for name in sorted(spoiled - named):
        print(f"  not named: {name}: {made[name]}")
    for finding in [one for one in state["findings"] if one["device"] not in spoiled][:10]:
        print(f"  other: {finding['device']}: {finding['message']}")


if __name__ == "__main__":
    main()
