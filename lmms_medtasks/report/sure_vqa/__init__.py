"""The report of SURE-VQA: robustness to each shift beside the paper's, baselines, and several models side by side."""
