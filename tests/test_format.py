"""Every C file is as clang-format would write it."""

from weft_host.check import badly_formatted, c_sources


def test_formatting():
    files = c_sources()
    assert len(files) > 50
    bad = badly_formatted(files)
    assert not bad, "make format would change: " + ", ".join(map(str, bad))


def test_a_badly_formatted_file_is_found(tmp_path):
    from weft_host.check import CLANG_FORMAT, TOP
    import subprocess
    bad = tmp_path / "bad.c"
    bad.write_text("int  f( void ){return 1;}\n")
    style = f"--style=file:{TOP}/.clang-format"
    done = subprocess.run([CLANG_FORMAT, "--dry-run", "-Werror", style, bad], capture_output=True)
    assert done.returncode != 0
