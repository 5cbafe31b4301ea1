"""A change carried out in waves: which switches go together, what the fabric keeps meanwhile, and the files of each."""
