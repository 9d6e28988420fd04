"""What files cost: not more among many than among few."""


def figures(guest, *argv, **options):
    out = guest(["copy_files", *argv], timing="exact", timeout=120, **options).output
    return {word: (int(few), int(many)) for word, few, many in map(str.split, out.splitlines())}


def test_cost_does_not_grow_with_the_number_of_files(guest):
    """Names are in trees: twenty thousand files more cost a name a few comparisons, a copy next
    to nothing."""
    cost = figures(guest, 20000, 2)
    print("instructions, among few files and among 20,000: " +
          ", ".join(f"{what} {few} {many}" for what, (few, many) in cost.items()))
    assert cost["copy"][1] <= cost["copy"][0] * 1.05
    for what in ("make", "remove"):
        assert cost[what][1] <= cost[what][0] * 1.25


def test_the_papers_copies(guest):
    """35 kB a hundred times into a new directory, a hundred times over."""
    cost = figures(guest, 100, 100)
    assert cost["copy"][0] > 0
