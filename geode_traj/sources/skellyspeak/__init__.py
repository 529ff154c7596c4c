"""SkellySpeak: what its archive and its exports of model runs have in common."""
