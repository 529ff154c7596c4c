import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCHEMAS = {path.name for path in (ROOT / "schemas").glob("*.schema.json")}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_wheel_carries_the_schemas_as_files(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if name.startswith("geode_traj/schemas/")}
        assert {Path(name).name for name in names} == SCHEMAS
        for name in names:
            assert archive.read(name) == (ROOT / "schemas" / Path(name).name).read_bytes()
        assert "geode_traj/py.typed" in archive.namelist()


def test_the_sdist_carries_sources_schemas_and_tests(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {f"schemas/{name}" for name in SCHEMAS} <= names
    assert {"README.md", "LICENSE", "pyproject.toml", "geode_traj/cli/main.py", "tests/conftest.py"} <= names
