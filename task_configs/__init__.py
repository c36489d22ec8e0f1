"""The benchmarks: a folder each, with its task YAMLs, its hooks and a card."""
