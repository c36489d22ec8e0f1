"""What the makers of this package run and its users do not: generators of bundled files. Not installed."""
