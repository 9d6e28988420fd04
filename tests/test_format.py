"""Every C file is as clang-format would write it."""

from weft_host.check import TOP, badly_formatted, c_sources


def test_formatting():
    files = c_sources()
    assert len(files) > 50
    bad = badly_formatted(files)
    assert not bad, "\n".join(["call make format:", *bad])


def test_a_badly_formatted_file_is_found(tmp_path):
    (tmp_path / ".clang-format").write_bytes((TOP / ".clang-format").read_bytes())
    (tmp_path / "good.c").write_text("int f(void)\n{\n\treturn 1;\n}\n")
    (tmp_path / "bad.c").write_text("int f(void)\n{\n    return 1;\n}\n")
    bad = badly_formatted([tmp_path / "good.c", tmp_path / "bad.c"])
    assert len(bad) == 1
    assert bad[0].startswith(f"{tmp_path}/bad.c:")
