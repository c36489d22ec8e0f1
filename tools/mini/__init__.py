"""The generators of the bundled mini data: procedurally drawn phantoms and questions about them."""
