"""The verbs of `fabric.pipeline`, one file per job of a user."""
