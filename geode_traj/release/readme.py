"""README.md of a release: what it is, and how a stranger checks it with tools of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from geode_traj.codec.text import neutralise
from geode_traj.contract.policy import Policy
from geode_traj.release import layout


def readme(release_id: str, manifest: dict[str, Any], policy: Policy, totals: Mapping[str, int]) -> str:
    """Return the text; it links by name and never by digest, as it is written before the digests are.

    `totals` counts the candidates of the release by class, as data/disclosure.json does.
    """
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
        "Withheld": f"{totals['candidates'] - totals['public']} of {totals['candidates']} candidates",
        "Events": quality["trajectory_events"],
        "Policy": policy.name,
    }
    # An indented block: whatever a source or scope holds, it is shown and never rendered.
    listed = "\n".join(f"    {name + ':':<14}{neutralise(str(text))}" for name, text in fields.items())
    return _TEXT.format(
        fields=listed,
        folder=layout.geode_folder(release_id),
        namespace=layout.NAMESPACE,
        signature=layout.signature_path(layout.SIGNER),
        record=layout.REVIEW_RECORD,
        disclosure=layout.DISCLOSURE,
        policy=_ROLES[policy.roles] + _DIGESTS[policy.setting("release", "digests")],
    )


_ROLES: Final = {
    1: """\
The policy of this release asks for one signature, that of the release signer, who may be the person who
reviewed it.
""",
    2: f"""\
The policy of this release asks for two signatures by two keys: that of the reviewer ({layout.REVIEWER})
and that of the release signer ({layout.SIGNER}). Both stand in `{layout.SIGNATURES}`.
""",
}
_DIGESTS: Final = {
    "keyed": "",
    "plain": """\

The policy keeps plain digests of private bytes: whoever guesses such bytes can tell by the digest that
the guess is right.
""",
}
_TEXT: Final = """\
# Agent trajectories

{fields}

Each trajectory holds what was recorded of an agent's run: messages, tool calls and their results, in order. A
person reviewed them before they were published. They stand in `{folder}`, whose
`manifest.json` says what was counted; `release.json` lists every file, `SHA256SUMS` repeats that list for
`sha256sum`, and the signatures vouch for `SHA256SUMS`.

`{record}` says how they were reviewed. `{disclosure}` says what became of every
candidate: what is withheld is counted there.

{policy}
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
