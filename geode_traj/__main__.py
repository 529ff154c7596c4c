"""`python -m geode_traj`."""

from geode_traj.cli.main import run

run()
