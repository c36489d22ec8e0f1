"""MedQ-Deg: accuracy and calibration as image quality falls."""
