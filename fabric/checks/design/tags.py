"""Tagged and untagged packets of one link between two network OSes."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.checks import NOTE, Design, Finding
from fabric.checks.design.family import FabricCheck, network_oses
from fabric.nos.target import installed


class NativeVlan(FabricCheck):
    """Looks for links whose untagged packets one network OS has in a native VLAN, and the other one on the port itself.

    The underlay is untagged beside the tagged subinterfaces of tenants. Junos has no untagged unit beside tagged ones: the
    underlay is a unit in the native VLAN. The documentation says what it receives there, not what it sends.
    """

    id = "FAB244"
    title = "Both ends of a link with subinterfaces send the underlay untagged, as documented"
    severity = NOTE
    example = "`nos: {leaf: junos, spine: eos}` with `overlay: {isolation: vrf-lite}`"
    remediation = (
        "test one link with a packet capture before all are cabled, or use one network OS, or EVPN in place of VRF-lite"
    )

    def judge(self, design: Design) -> Iterator[Finding]:
        found = {role: target for role, nos in network_oses(design.fabric).items() if nos and (target := installed(nos))}
        unsure = sorted({target.title for target in found.values() if not target.sends_untagged})
        others = sorted({target.title for target in found.values() if target.sends_untagged})
        if design.fabric.tenancy.slices and unsure and others:
            some, rest = " and ".join(unsure), " and ".join(others)
            text = f"links between {some} and {rest}: no documentation says that {some} sends the underlay untagged"
            yield self.say(design, ("nos",), f"{text} beside the tagged subinterfaces of tenants")
