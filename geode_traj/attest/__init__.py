"""Signatures and keys: strict Ed25519, SSHSIG, key files, ssh-agent, allowed_signers."""
