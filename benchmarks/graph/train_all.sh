#!/usr/bin/env bash
# Train every recipe at once on one GPU: bash benchmarks/graph/train_all.sh OUT SECONDS DATA
set -u
export OMP_NUM_THREADS=1 PYTHONPATH=src PYTHONUNBUFFERED=1
out=$1 seconds=$2 data=$3
train() { python3 benchmarks/graph/train_codex.py "$1" "$2" --data "$data" --seconds "$seconds" --out "$out/$1/$2$3" "${@:4}" 2>&1 | tail -3; }
for dataset in codex-m codex-s; do
  for model in complex conve transe rescal tucker; do train $dataset $model "" & done
done
train codex-s transe -adam --set 'optimizer="adam"' --set rate=0.001 --set batch=512 &
train codex-m complex -smooth --set smoothing=0.5 &
train codex-m transe -drop --set entity_dropout=0.46 &
wait
