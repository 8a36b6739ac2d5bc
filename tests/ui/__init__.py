"""The page in a headless browser."""
