"""`scripts/bench secrets`: plant, scan, compare, print."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.secrets import corpus, hostile, ours
from tests.bench.secrets.score import MB, Score, score


def _details(found: Score, corpus_: corpus.Corpus) -> str:
    """Say what was missed, by kind and form, and what was falsely found, by rule; never a value."""
    lines = ["missed in clear (found/planted):"]
    for (kind, group, form), count in sorted(found.planted.items(), key=lambda item: (item[0][2], item[0])):
        met, whole = found.met[kind, group, form], found.whole[kind, group, form]
        if form == "" and whole < count:
            lines.append(
                f"  {group:<10} {kind:<24} {met}/{count}" + (f", whole {whole}" if whole < met else "")
            )
    lines.append("missed encoded, by form:")
    planted, met_, whole_ = Counter[str](), Counter[str](), Counter[str]()
    for (_, _, form), count in found.planted.items():
        planted[form] += count
    for counter, into in ((found.met, met_), (found.whole, whole_)):
        for (_, _, form), count in counter.items():
            into[form] += count
    for form, count in planted.items():
        if form and whole_[form] < count:
            lines.append(
                f"  {form:<24} {met_[form]}/{count}"
                + (f", whole {whole_[form]}" if whole_[form] < met_[form] else "")
            )
    lines.append("falsely found, by rule:")
    for (rule, band), count in Counter((one.rule, one.band) for one in found.false).most_common():
        at = [one.line for one in found.false if one.rule == rule][:6]
        lines.append(f"  {count:>4} {band:<6} {rule}; lines {at}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench secrets", description=__doc__)
    parser.add_argument("--size", type=float, default=10, help="MB of the transcript (10)")
    parser.add_argument("--each", type=int, default=8, help="plants of each kind and of each form (8)")
    parser.add_argument("--seed", type=int, default=1, help="of everything that is drawn (1)")
    parser.add_argument("--ours", action="store_true", help="our scanner alone, with all that it misses")
    parser.add_argument("--keep", type=Path, help="folder for the transcripts, to look at them")
    given = parser.parse_args()
    planted = corpus.planted(int(given.size * MB), given.each, given.seed)
    clean = corpus.clean(int(given.size * MB) // 2, given.seed + 1)
    with TemporaryDirectory() as made:
        folder = given.keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        path, clean_path = folder / "planted.jsonl", folder / "clean.jsonl"
        path.write_bytes(planted.data)
        clean_path.write_bytes(clean.data)
        findings, seconds = ours.find(path, planted)
        result = score(planted, findings)
        false, clean_seconds = ours.find(clean_path, clean)
    print(f"{len(planted.data) / MB:.1f} MB, {len(planted.plants)} plants; ruleset {ours.version()}")
    print(
        f"in clear {result.share():.1f} % (vendor {result.share('vendor'):.1f},"
        f" structure {result.share('structure'):.1f}; personal {result.share('personal'):.1f}),"
        f" whole {result.share(whole=True):.1f} %"
    )
    whole = result.share(encoded=True, whole=True)
    print(f"encoded {result.share(encoded=True):.1f} %, whole {whole:.1f} %")
    clean_rate = len(false) * 10 * MB / len(clean.data)
    print(f"false {result.false_rate:.1f}/10 MB; in clean text {clean_rate:.1f}/10 MB")
    speeds = (len(planted.data) / seconds / MB, len(clean.data) / clean_seconds / MB)
    print(f"{speeds[0]:.1f} MB/s planted, {speeds[1]:.1f} clean; filter {ours.filter_speed(clean):.0f} MB/s")
    slow = ours.slowest(hostile.lines())
    worst = sorted(slow.items(), key=lambda item: -item[1])[:8]
    print("slowest lines: " + ", ".join(f"{name} {took:.0f} ms" for name, took in worst))
    print(_details(result, planted))
    counted = Counter((one.rule, one.band) for one in false)
    print("falsely found in clean text:")
    for (rule, band), count in counted.most_common():
        print(f"  {count:>4} {band:<6} {rule}; lines {[one.line for one in false if one.rule == rule][:6]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
