"""How the tool writes for people: words that count, numbers with units, tables. Knows nothing of networks."""
