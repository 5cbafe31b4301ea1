"""Models of JSON documents (`models.py`), and what derives their JSON Schemas (`derived.py`)."""

INPUTS = ("job",)  # input files beside intents that have a schema too
