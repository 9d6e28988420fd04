"""The experiments of `weft bench`: a file each, and modules where data cannot say what to do."""
