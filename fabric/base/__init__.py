"""What knows nothing of networks: text, formats, files read and written, diagnostics, grouping, workers."""
