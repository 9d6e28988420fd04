"""What the host command makes of a host that gives it no room, no output, or no time to end."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from unittest import mock

import pytest
from conftest import TOP
from weft_host import project, venv
from weft_host.machine import HostError
from weft_host.workdir import PREFIX, WorkDirectory

RUN = [TOP / "tools/weft", "run", "--no-build", "--timing", "exact"]


def call(*words, **options):
    return subprocess.run([*RUN, *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          timeout=100, **options)


def one_line(text):
    return text.endswith("\n") and text.count("\n") == 1


def test_the_directory_for_temporary_files_is_full(tmp_path):
    """A limit on the size of files does what a full file system does: a write fails."""
    import resource

    limit = (TOP / "build/initrd.cpio").stat().st_size // 2
    done = call("--", "true", env={**os.environ, "TMPDIR": str(tmp_path)},
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert done.returncode == 69
    assert str(tmp_path) in done.stderr and "TMPDIR" in done.stderr and one_line(done.stderr)
    assert list(tmp_path.iterdir()) == []


def test_no_directory_for_temporary_files(monkeypatch):
    def nowhere(**options):
        raise FileNotFoundError(2, "No usable temporary directory found in ['/x']")

    monkeypatch.setattr(tempfile, "mkdtemp", nowhere)
    with pytest.raises(HostError, match=re.escape("found in ['/x']") + ".*TMPDIR"):
        WorkDirectory()


@pytest.mark.parametrize("words", [["run", "--no-build", "--timing", "exact", "--", "echo", "all"],
                                   ["bench", "--list"]])
def test_standard_output_is_full(words):
    with open("/dev/full", "w") as full:
        done = subprocess.run([TOP / "tools/weft", *words], stdin=subprocess.DEVNULL, stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=100)
    assert (done.returncode, done.stderr) == \
        (69, f"weft {words[0]}: cannot write: No space left on device\n")


def closed(descriptor):
    return ["sh", "-c", f'exec "$@" {descriptor}>&-', "-"]


def test_standard_output_is_closed():
    done = subprocess.run([*closed(1), *RUN, "--", "echo", "all"], stderr=subprocess.PIPE, timeout=100)
    assert done.returncode == 69
    assert done.stderr == b"weft run: standard output is closed: there is nowhere to print to\n"


def test_standard_input_is_closed():
    done = subprocess.run([*closed(0), *RUN, "--", "sh", "-c", "cat; echo all"],
                          stdout=subprocess.PIPE, timeout=100)
    assert (done.returncode, done.stdout) == (0, b"all\n")


def test_standard_error_is_closed():
    """What would be said there is not printed as if it were the program's output."""
    done = subprocess.run([*closed(2), *RUN, "--timeout", "0", "--", "true"],
                          stdout=subprocess.PIPE, timeout=100)
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize("words", [["run", "--timeout", "nan", "--", "true"],
                                   ["run", "--timeout", "inf", "--", "true"],
                                   ["torture", "--minutes", "nan"]])
def test_a_time_that_is_no_number(words):
    done = subprocess.run([TOP / "tools/weft", words[0], "--no-build", *words[1:]],
                          capture_output=True, text=True, timeout=100)
    assert done.returncode == 2 and words[1] in done.stderr and one_line(done.stderr)


def test_a_time_that_no_clock_holds():
    assert call("--timeout", "1e300", "--", "true").returncode == 0


def test_what_a_killed_weft_left_is_cleared(tmp_path):
    """By the next start; what has an owner stays, and what others made stays too."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    (tmp_path / "weft.mine").mkdir()
    with subprocess.Popen([*RUN, "--", "sh", "-c", "echo runs; while :; do :; done"], env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as killed:
        assert killed.stdout.readline() == b"runs\n"
        left, = tmp_path.glob(PREFIX + "*")
        assert call("--", "true", env=environment).returncode == 0
        assert left.is_dir()
        killed.send_signal(signal.SIGKILL)
    assert (left / "initrd.cpio").is_file()
    assert call("--", "true", env=environment).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["weft.mine"]


def test_a_directory_that_is_cleared_before_it_is_locked(monkeypatch, tmp_path):
    """Its maker makes another."""
    made, real = [], tempfile.mkdtemp

    def mkdtemp(**options):
        made.append(real(dir=tmp_path, **options))
        if len(made) == 1:
            os.rmdir(made[0])
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", mkdtemp)
    with WorkDirectory() as name:
        assert len(made) == 2 and name == made[1] and os.path.isdir(name)
    assert not os.path.exists(name)


def test_version(weft):
    """The version that pyproject.toml has, and what git says of the sources."""
    done = weft("--version")
    head = subprocess.run(["git", "-C", TOP, "rev-parse", "HEAD"], capture_output=True, text=True)
    said = re.fullmatch(r"weft (\S+) \((\S+?)(-dirty)?\)\n", done.stdout.decode())
    assert done.returncode == 0 and said[1] == project.version()
    assert len(said[2]) == 12 and head.stdout.startswith(said[2])


def test_the_changelog_tells_of_the_version():
    """Its newest version is that of pyproject.toml, and no version comes twice or out of order."""
    headings = re.findall(r"^## \[(.+?)\](?: - (\S+))?$", (TOP / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == ("Unreleased", "")
    versions = [version for version, _ in headings[1:]]
    assert versions[0] == project.version()
    numbers = [tuple(map(int, version.split("."))) for version in versions]
    assert numbers == sorted(set(numbers), reverse=True)
    for version, date in headings[1:]:
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", date), version


def test_an_environment_that_may_not_be_used(monkeypatch):
    """Its Python, or the directory to make it in: one line."""
    for made, call, name in ((True, "os.execv", None), (False, "pathlib.Path.mkdir", "/x/build")):
        monkeypatch.setattr(venv, "_stamp", lambda group, made=made: project.FILE if made else TOP / "none")
        monkeypatch.setattr(sys, "prefix", "/elsewhere")
        monkeypatch.setattr(call, mock.Mock(side_effect=PermissionError(13, "Permission denied", name)))
        with pytest.raises(SystemExit, match="^weft: " + (name or ".*/bin/python") + ": Permission denied"):
            venv.enter()


def test_make_run_without_python(tmp_path):
    """It says what to install, where the host command cannot."""
    for tool in ("sh", "env", "make"):
        (tmp_path / tool).symlink_to(shutil.which(tool))
    done = subprocess.run(["make", "run"], cwd=TOP, env={"PATH": str(tmp_path)}, text=True,
                          capture_output=True)
    assert done.returncode != 0
    assert "python3-venv" in done.stderr and "make setup" in done.stderr


@pytest.mark.parametrize("words, goal", [([], " test"), (["PYTEST=-k pingpong"], "")])
def test_chosen_tests_want_no_browser(words, goal):
    done = subprocess.run(["make", "-n", "test", *words], cwd=TOP, text=True, capture_output=True,
                          env={"PATH": os.environ["PATH"]})  # without what a make hands on
    setup, = [line.rstrip() for line in done.stdout.splitlines() if line.startswith("tools/setup.sh")]
    assert setup == f"tools/setup.sh{goal}"
