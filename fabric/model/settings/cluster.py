"""What a Kubernetes cluster adds to a fabric: the release of the Network Operator, and values that only the site knows."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from fabric.model.settings.base import Count, Key, Line, host_name

LABEL_KEY = r"^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$"
LABEL_VALUE = r"^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$"
OBJECT_NAME = r"^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$"
PCI = r"^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$"

LabelKey = Annotated[str, StringConstraints(pattern=LABEL_KEY)]
LabelValue = Annotated[str, StringConstraints(pattern=LABEL_VALUE)]
Labels = dict[LabelKey, LabelValue]
ObjectName = Annotated[Line, StringConstraints(pattern=OBJECT_NAME), AfterValidator(host_name)]
PciAddress = Annotated[str, StringConstraints(pattern=PCI)]
Share = Annotated[str, StringConstraints(pattern=r"^(100|[1-9]?[0-9])%$")]


class NetworkOperator(Key):
    """NVIDIA's Network Operator, for `fabric export network-operator`."""

    release: Literal["26.7", "26.10"] = Field("26.7", description="release of the Network Operator; 26.10 is not written yet")
    profile: ObjectName = Field(description="ConfigMap with the Spectrum-X profile, whose values are not public")
    namespace: ObjectName = Field("nvidia-network-operator", description="namespace of the objects")
    network_namespace: ObjectName = Field("default", description="namespace of the pods that use the networks")
    overlay: Literal["none", "l3"] = Field("none", description="overlay mode of the NICs")
    vfs: Count = Field(1, description="virtual functions of each port in the rail pools")
    dra: bool = Field(True, description="resources are claimed by dynamic resource allocation")
    max_unavailable: Count | Share = Field(1, description="nodes that are configured at the same time, or their percentage")
