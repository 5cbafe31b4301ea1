"""From an intent to a plan, one stage per file; records of the stages are in `fabric.model.plan`. In the order of the work:

| stage | files |
|---|---|
| look up hardware, choose defaults, once | `resolve`, `contradictions`, `hardware` |
| size: integers only | `sizing_inputs`, `sizing_rule`, `three_tiers`, `one_tier`, `sizing` |
| numbers and splits that stay | `splits`, `numbers`, `lock_repair`, `pools`, `addresses` |
| devices and cables | `inventory`, `wiring`, `switchless`, `pins`, `cable_lengths` |
| free ports of leaves | `free_ports`, `attachments`, `management_ports` |
| what the fabric carries | `lossless`, `overlay`, `tenancy`, `tenant_numbers` |
| put together | `assemble` (a fabric), `site` (all of them), `warnings` |
"""
