"""From an intent to a plan, one stage a file. In the order of the work:

| stage | files |
|---|---|
| look up hardware, choose defaults | `spec` |
| size: integers only | `options`, `shape`, `pods`, `ports`, `sizing`, `limits`, `layouts`, `summary` |
| numbers that stay | `ledger`, `lock`, `pools`, `numbers`, `addresses` |
| boxes and cables | `coordinates`, `inventory`, `names`, `pattern`, `wiring`, `attachments`, `pins` |
| put together | `assemble` (a fabric), `site` (all of them), `warnings` |
"""
