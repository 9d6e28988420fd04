"""How the host command says how many."""


def counted(number, noun):
    """1 fault, 2 faults."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
