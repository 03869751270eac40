"""What is packed for a package index: the wire by itself, and the page that the index shows."""

import re
import shutil
import subprocess
import sys
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest

pytest.importorskip("hatchling")


def built(source: Path, folder: Path) -> tuple[Path, Message]:
    """The wheel of a declaration, and its metadata."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=source,
        check=True,
        capture_output=True,
        timeout=120,
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        return wheel, message_from_string(packed.read(name).decode())


def test_the_wire_is_a_package_without_dependencies(root: Path, tmp_path: Path) -> None:
    """Unpacked alone, its client is imported by a Python that sees no other package; it has the program's version."""
    wheel, told = built(root / "protocol", tmp_path / "dist")
    required = told.get_all("Requires-Dist") or []
    assert [name for name in required if "extra ==" not in name] == []
    declared = re.search(r'(?m)^version = "(.*)"', (root / "pyproject.toml").read_text("utf-8"))
    assert declared is not None
    assert told["Version"] == declared[1]
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "lib")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'lib')!r}); import warpline.client; print('there')"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "there\n", done.stderr
    assert (root / "protocol/LICENSE").read_text() == (root / "LICENSE").read_text()


def test_links_of_the_readme_work_on_an_index(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There no file of the project is beside the page: links are absolute, or plain text where its home is unknown."""
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, source / name)
    (source / "scripts").mkdir()
    for script in ("hatch_metadata.py", "hatch_build.py", "compile.py"):
        shutil.copy(root / "scripts" / script, source / "scripts" / script)
    code = (
        "from hatchling.metadata.core import ProjectMetadata; from hatchling.plugin.manager import PluginManager; "
        "found = ProjectMetadata('.', PluginManager()).core; print(found.urls); print(found.readme)"
    )

    def page() -> str:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=source, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    monkeypatch.delenv("WARPLEAGUE_HOME", raising=False)
    assert re.findall(r"\]\((?!https:)", page()) == []
    monkeypatch.setenv("WARPLEAGUE_HOME", "https://example.org/us/it/")
    text = page()
    assert "https://example.org/us/it/blob/v0.1.0/docs/games/aliens.md" in text
    assert "'Homepage': 'https://example.org/us/it'" in text
    links = re.findall(r"\]\(https://example\.org/us/it/blob/v[\d.]+/([^)#]*)", text)
    assert [link for link in links if not (root / link).exists()] == []
