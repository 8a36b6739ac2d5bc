"""Failures: one stop for each exception that ends something, and none for what is handled."""
