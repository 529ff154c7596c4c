"""README.md of a release: what it is, and how a stranger checks it with tools of their own."""

from __future__ import annotations

from typing import Any

from geode_traj.codec.text import neutralise
from geode_traj.release import layout


def readme(release_id: str, manifest: dict[str, Any]) -> str:
    """Return the text; it links by name and never by digest, as it is written before the digests are."""
    quality, review = manifest["quality"], manifest["privacy_review"]
    count = len(manifest["files"])
    fields = {
        "Release": release_id,
        "Source": manifest["release_source"],
        "Scope": manifest["release_scope"],
        "Published": manifest["published_at"],
        "Supersedes": manifest["supersedes"] or "nothing",
        "Reviewed": f"{review['reviewed_at']} by {review['reviewer']}",
        "Trajectories": f"{count}, of which {quality['replay_complete_trajectories']} replay in full",
        "Events": quality["trajectory_events"],
    }
    # An indented block: whatever a source or scope holds, it is shown and never rendered.
    listed = "\n".join(f"    {name + ':':<14}{neutralise(str(text))}" for name, text in fields.items())
    return _TEXT.format(
        fields=listed,
        folder=layout.geode_folder(release_id),
        namespace=layout.NAMESPACE,
        signature=layout.signature_path(layout.SIGNER),
    )


_TEXT = """\
# Agent trajectories

{fields}

Each trajectory holds what was recorded of an agent's run: messages, tool calls and their results, in order. A
person reviewed them before they were published. They stand in `{folder}`, whose
`manifest.json` says what was counted; `release.json` lists every file, `SHA256SUMS` repeats that list for
`sha256sum`, and the signatures vouch for `SHA256SUMS`.

## Check it

Get the publisher's `allowed_signers` file from somewhere else than here, save it beside this folder, and put
the name it gives the signer in place of `SIGNER`. Then run these four commands in this folder. The first says
`Good`, the others print nothing.

```sh
ssh-keygen -Y verify -f ../allowed_signers -I SIGNER -n {namespace} -s {signature} < SHA256SUMS
sha256sum --strict --quiet -c SHA256SUMS
(cut -c 67- SHA256SUMS; find . -type f ! -path ./SHA256SUMS ! -path './signatures/*' | cut -c 3-) \\
  | sort | uniq -u
find . ! -type f ! -type d
```

They prove that the bytes are those the signer signed, that none is missing and none was added.
"""
