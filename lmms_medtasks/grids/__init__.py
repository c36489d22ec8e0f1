"""New image grids with an outlier, in the form of MedObvious: building, writing, and checking them for leaks."""
