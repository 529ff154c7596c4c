"""Releases: stage, sign, publish and check folders of reviewed trajectories."""
