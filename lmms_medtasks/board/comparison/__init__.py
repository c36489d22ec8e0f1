"""Compare two runs on the same questions: which is better, by how much, beyond chance or not; and a gate for CI."""
