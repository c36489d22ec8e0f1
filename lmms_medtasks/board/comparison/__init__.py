"""Two runs on the same questions: which is better, by how much, and is it chance; and a gate for CI made of it."""
