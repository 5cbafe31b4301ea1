"""State that switches report: the records, and what readers of the output share; each network OS has its own readers."""
