"""What Hermes's formats share: messages, calls, reasoning, sessions and how they descend from each other."""
