"""From a resolved intent to a plan, one stage a file: spec, shape, sizing, then wiring and numbering."""
