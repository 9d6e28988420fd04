"""The experiments of `weft bench`, one module each; bench.py says what a module supplies."""
