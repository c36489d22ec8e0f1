"""The board as a static site: pages, tables as CSV, pictures; it needs no server and loads nothing else."""
