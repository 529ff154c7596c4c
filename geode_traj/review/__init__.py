"""Review: published forms of trajectories, and the sign-off that binds them to what was looked at."""
