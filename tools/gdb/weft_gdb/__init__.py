"""What the GDB commands of weft consist of."""
