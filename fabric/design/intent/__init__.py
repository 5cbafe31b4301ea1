"""The intent language: models, a loader that keeps positions, the JSON Schema."""
