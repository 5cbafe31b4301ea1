"""From an intent to a plan, one stage per file; records of the stages are in `fabric.model.plan`. In the order of the work:

| stage | files |
|---|---|
| look up hardware, choose defaults, once | `resolve` |
| size: integers only | `sizing_inputs`, `sizing_rule`, `pods`, `sizing`, `limits` |
| numbers that stay | `allocator`, `lock_repair`, `lock_merge`, `pools`, `numbers`, `addresses` |
| devices and cables | `inventory`, `names`, `port_assignment`, `wiring`, `attachments`, `pins` |
| put together | `assemble` (a fabric), `site` (all of them), `warnings` |
"""
