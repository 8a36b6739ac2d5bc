"""Stack frames: their scopes and code, and the expressions that are looked up or run in them."""
