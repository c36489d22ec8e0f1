"""The report of MedQ-Deg: Tables 2, 3 and 6 of the paper, calibration, and several models side by side."""
