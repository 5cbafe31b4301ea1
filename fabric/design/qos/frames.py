"""The largest frame that the lossless class of a fabric carries."""

from __future__ import annotations

from fabric.hardware.headroom_forms import ROCE_HEADERS_BYTES
from fabric.model.plan import FabricSpec

VXLAN_FRAME_BYTES = 56  # outer Ethernet with a tag, IPv4, UDP, VXLAN, up to a multiple of eight


def frame_bytes(spec: FabricSpec) -> int:
    """The largest frame of the lossless class, in VXLAN where tenants ride on it."""
    return spec.qos.rdma_mtu + ROCE_HEADERS_BYTES + (VXLAN_FRAME_BYTES if spec.isolation == "evpn" else 0)
