#!/usr/bin/env bash
# Train every CoDEx recipe at once on one GPU: bash benchmarks/graph/train_all.sh OUT SECONDS DATA
# OUT/<dataset>/<model>/{valid,test,train}.npy are the scores; the figures go to OUT/rows.csv.
set -u
export OMP_NUM_THREADS=1 PYTHONPATH=src PYTHONUNBUFFERED=1
out=$1 seconds=$2 data=$3
mkdir -p "$out"
train() {
  python3 benchmarks/graph/train_codex.py "$1" "$2" --data "$data" --seconds "$seconds" --out "$out/$1/$2" --rows "$out/rows.csv" 2>&1 | tail -3
}
for dataset in codex-m codex-s; do
  for model in complex conve transe rescal tucker; do train "$dataset" "$model" & done
done
wait
