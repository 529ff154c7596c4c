# Sourced by the other scripts: makes .venv with the package and the given extra, once for each pyproject.toml.
# Usage: . scripts/venv.sh [EXTRA]
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "geode-traj needs Python 3.11 or newer; name one with PYTHON=/path/to/python" >&2; exit 2; }
stamp=.venv/.installed-$(cat pyproject.toml requirements-dev.lock | cksum | tr -d ' ')${1:+-$1}
if [ ! -e "$stamp" ]; then
  [ -x .venv/bin/python ] || "$python" -m venv .venv || {
    echo "cannot make a virtual environment: install your system's python3-venv" >&2; exit 2; }
  echo "installing into .venv (once) ..." >&2
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -c requirements-dev.lock -e ".${1:+[$1]}"
  touch "$stamp"
fi
PATH=$PWD/.venv/bin:$PATH
