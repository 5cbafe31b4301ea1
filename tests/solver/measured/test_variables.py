"""NCCL's variables as logs, scripts, environments and manifests write them."""

from __future__ import annotations

import pytest

from fabric.solver.measured.platform import ALGORITHMS, PROTOCOLS, MeasuredPlatform, tuning_named, variables
from fabric.solver.measured.run import forced

RUN = MeasuredPlatform(gpu="h100", gpus_per_node=8, nodes=2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("export NCCL_ALGO=Ring", {"ALGO": "Ring"}),
        ('export NCCL_ALGO="Ring,Tree"', {"ALGO": "Ring,Tree"}),
        ("mpirun -np 16 -x NCCL_PROTO=Simple -x NCCL_NVLS_ENABLE=0 prog", {"PROTO": "Simple", "NVLS_ENABLE": "0"}),
        ("#SBATCH --export=ALL,NCCL_MIN_NCHANNELS=24", {"MIN_NCHANNELS": "24"}),
        ('os.environ["NCCL_MAX_CTAS"] = "8"', {"MAX_CTAS": "8"}),
        ('{"NCCL_ALGO": "Tree"}', {"ALGO": "Tree"}),
        ("- name: NCCL_ALGO\n  value: Ring", {"ALGO": "Ring"}),
        ("ENV NCCL_ALGO Ring", {"ALGO": "Ring"}),
        ("setenv NCCL_ALGO Ring", {"ALGO": "Ring"}),
        ("h:1:2 [0] NCCL INFO NCCL_PROTO set by environment to LL128.", {"PROTO": "LL128"}),
        ("h:1:2 [0] NCCL INFO NCCL_IB_HCA set to =mlx5_0:1", {"IB_HCA": "=mlx5_0:1"}),
        ("# export NCCL_ALGO=Ring\n#export NCCL_PROTO=LL\n// NCCL_ALGO=Tree", {}),
        ("export NCCL_ALGO=Ring\nunset NCCL_ALGO", {}),
        ("export NCCL_ALGO=Ring\nexport NCCL_ALGO=Tree", {"ALGO": "Tree"}),
        ("set NCCL_ALGO for the run", {}),
    ],
)
def test_a_variable_in_a_text(text: str, expected: dict[str, str]) -> None:
    assert variables(f"{text}\n") == expected


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("Ring", ALGORITHMS, "ring"),
        ("NVLSTree", ALGORITHMS, "nvls_tree"),
        ("Ring,Tree", ALGORITHMS, "ring,tree"),
        ("^NVLS,NVLSTree", ALGORITHMS, "ring,tree,collnet_direct,collnet_chain,pat"),
        ("^LL128", PROTOCOLS, "ll,simple"),
        ("fastest", ALGORITHMS, ""),
    ],
)
def test_the_algorithms_that_a_variable_leaves(word: str, known: tuple[str, ...], expected: str) -> None:
    assert tuning_named(word, known) == expected


@pytest.mark.parametrize(("collective", "algorithm"), [("all_reduce", "tree,nvls"), ("all_gather", "ring"), ("", "ring")])
def test_a_variable_may_name_collectives(collective: str, algorithm: str) -> None:
    assert forced({"ALGO": "ring;allreduce:tree,nvls"}, RUN, collective).algorithm == algorithm


def test_what_a_run_states_itself_goes_before_a_variable() -> None:
    stated = MeasuredPlatform(gpu="h100", gpus_per_node=8, nodes=2, algorithm="tree", nvls=True, min_ctas=24)
    assert forced({"ALGO": "Ring", "NVLS_ENABLE": "0", "MIN_NCHANNELS": "8"}, stated) == stated
    found = forced({"ALGO": "Ring", "NVLS_ENABLE": "0", "MIN_NCHANNELS": "24", "MAX_CTAS": "32"}, RUN)
    assert (found.algorithm, found.nvls, found.min_ctas, found.max_ctas) == ("ring", False, 24, 32)
    assert [found.ctas(default) for default in (16, 28, 64)] == [24, 28, 32]
