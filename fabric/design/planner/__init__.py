"""From an intent to a plan, one stage per file; records of the stages are in `fabric.model.plan`. In the order of the work:

| stage | files |
|---|---|
| look up hardware, choose defaults, once | `resolve` |
| size: integers only | `options`, `shape`, `pods`, `sizing`, `limits` |
| numbers that stay | `ledger`, `settle`, `merged`, `pools`, `numbers`, `addresses` |
| devices and cables | `inventory`, `names`, `pattern`, `wiring`, `attachments`, `pins` |
| put together | `assemble` (a fabric), `site` (all of them), `warnings` |
"""
