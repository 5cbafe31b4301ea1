"""FRR and the files of its Linux, read back."""
