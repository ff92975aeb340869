"""crowd-kit's Dawid and Skene labels as ours does; ours has a prior, so a few triples in doubt may differ."""

import json
import sys
from pathlib import Path

import pandas as pd
from crowdkit.aggregation import DawidSkene

votes = json.loads((Path(sys.argv[1]) / "votes.json").read_text(encoding="utf-8"))
frame = pd.DataFrame({"task": votes["triples"], "worker": votes["people"], "label": votes["labels"]})
theirs = DawidSkene(n_iter=100).fit_predict(frame)
same = (theirs.loc[votes["rows"]].to_numpy() == votes["found"]).mean()
assert same > 0.98, same
print(f"crowd-kit: {same:.1%} of {len(theirs):,} labels are the same")
