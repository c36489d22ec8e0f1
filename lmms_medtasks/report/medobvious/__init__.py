"""The report of MedObvious: its tables beside published models, signs against each other, formats, grid sizes."""
