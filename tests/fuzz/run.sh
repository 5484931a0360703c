#!/usr/bin/env bash
# Runs every fuzz target on seeds made from tests/data. usage: tests/fuzz/run.sh BIN_DIR [SECONDS_EACH] [WORK_DIR]
# Ends with a line for each target: its runs, and what it found. Exit code 1 if any found a fault.
set -u
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 ASAN_OPTIONS=allocator_may_return_null=0
bin=$1 seconds=${2:-60} work=${3:-$(mktemp -d)}
data=$(cd "$(dirname "$0")/../data" && pwd)
mkdir -p "$work"

seed() {   # TARGET FILES...: copies of at most 64 KB as its corpus
  mkdir -p "$work/$1"
  local target=$1 file number=0
  shift
  for file; do
    [ -f "$file" ] && [ "$(stat -c %s "$file")" -le 65536 ] && cp "$file" "$work/$target/seed-$((number++))"
  done
}
seed fuzz_safetensors "$data"/io/*.safetensors "$data"/adapter/*/*.safetensors "$data"/cases/weights/*/*.safetensors
seed fuzz_gguf "$data"/io/*.gguf "$data"/cases/weights/*/*.gguf
seed fuzz_shard_index "$data"/models/*/*.index.json
seed fuzz_records "$data"/samples/*.jsonl "$data"/io/rows.jsonl "$data"/cases/*/*.jsonl "$data"/cases/C/*/*.jsonl
seed fuzz_columnar "$data"/io/rows.parquet "$data"/io/rows.arrow "$data"/io/rows.arrows
seed fuzz_tokenizer "$data"/models/{llama,qwen2,llama3-rope}/tokenizer.json "$data"/cases/PA*/tokenizer-*.json
seed fuzz_template "$data"/cases/*/*.jinja "$data"/models/*/*.jinja
python3 - "$data" "$work" <<'PY'
import json, os, sys
data, work = sys.argv[1:]
for k, case in enumerate(json.load(open(os.path.join(data, "text", "tokenizer_components.json"), encoding="utf-8"))):
    with open(os.path.join(work, "fuzz_tokenizer", f"component-{k}"), "w", encoding="utf-8") as f:
        f.write(json.dumps(case["tokenizer"], ensure_ascii=False))
constructs = json.load(open(os.path.join(data, "text", "jinja_constructs.json"), encoding="utf-8"))["constructs"]
for k, case in enumerate(constructs):
    with open(os.path.join(work, "fuzz_template", f"construct-{k}"), "w", encoding="utf-8") as f:
        f.write(case["template"])
PY

found=0
for target in fuzz_tokenizer fuzz_template fuzz_gguf fuzz_safetensors fuzz_columnar fuzz_records fuzz_shard_index; do
  mkdir -p "$work/$target"
  (cd "$work" && "$bin/$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="$work/$target-" "$target" >"$target.log" 2>&1)
  rc=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$target.log")
  echo "$target: ${runs:-0} runs, exit $rc$([ $rc -eq 0 ] || echo ", see $work/$target.log")"
  [ $rc -eq 0 ] || found=1
done
exit $found
