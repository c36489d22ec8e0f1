"""Medical vision-language benchmarks as a plugin of the lmms-eval harness."""

__version__ = "0.2.0"
