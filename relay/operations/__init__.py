"""Every verb once, for every face: small typed functions, one DAP noun a file."""
