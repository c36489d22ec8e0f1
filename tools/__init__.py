"""What makers of this package run and users do not: generators of bundled files, servers for tests. Not installed."""
