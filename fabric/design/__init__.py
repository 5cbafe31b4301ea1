"""From YAML to a plan: the language, stages of the planner, floor, ECN and buffers, the arithmetic behind a number."""
