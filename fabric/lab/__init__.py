"""The fabric before it is bought: every planned switch a network namespace with real FRR daemons in it.

    Plan ─┬─ files of each switch ──read back──▶ blueprint ──▶ up      namespaces, cables, daemons with the generated frr.conf
          └─ what must come of it ─────────────▶ proofs    ──▶ test    what daemons and kernels say against the plan
                                                 scenarios ──▶ test    break it, measure, repair it

The files decide what is built, the plan decides what is expected, so a wrong file shows. `machine/` is all that touches the
kernel and the daemons; the rest is values.
"""
