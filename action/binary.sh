#!/usr/bin/env bash
# Finds the ddpgate that the action runs, and names it as the output path:
# DDPGATE_BINARY where it is given; else the release DDPGATE_VERSION, which must have its checksum in checksums.txt; else a build of
# the source beside this script. DDPGATE_RELEASES is where releases are, for mirrors.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
releases=${DDPGATE_RELEASES:-https://github.com/ddpgate/ddpgate/releases/download}
version=${DDPGATE_VERSION:-}

fail() {
	printf '::error::ddpgate: %s\n' "$1"
	exit 2
}

found() {
	printf 'path=%s\n' "$1" >>"$GITHUB_OUTPUT"
	exit 0
}

if [ -n "${DDPGATE_BINARY:-}" ]; then
	case $DDPGATE_BINARY in *$'\n'* | *$'\r'*) fail "binary-path is more than one line" ;; esac
	path=$(cd "$(dirname -- "$DDPGATE_BINARY")" 2>/dev/null && pwd)/$(basename -- "$DDPGATE_BINARY") || fail "binary-path: there is no such directory"
	[ -f "$path" ] && [ -x "$path" ] || fail "binary-path: there is no program of that name"
	found "$path"
fi

# checksum prints the checksum of an archive, nothing if there is none.
checksum() { awk -v name="$1" '$1 !~ /^#/ && $2 == name { print $1; exit }' "$here/checksums.txt"; }

if [ -z "$version" ]; then
	newest=$(awk '$1 !~ /^#/ && NF == 2 && $2 ~ /^ddpgate_.*\.tar\.gz$/ { print $2; exit }' "$here/checksums.txt") # workers and templates are released too
	if [[ $newest =~ ^ddpgate_([0-9][0-9A-Za-z.-]*)_[a-z]+_[a-z0-9]+\.tar\.gz$ ]]; then
		version=v${BASH_REMATCH[1]}
	else
		version=source
	fi
fi

out=$(mktemp -d "${RUNNER_TEMP:-/tmp}/ddpgate-binary-XXXXXX")

if [ "$version" = source ]; then
	command -v go >/dev/null || fail "there is no Go to build ddpgate with: set up Go, or give version or binary-path"
	(cd "$here/.." && CGO_ENABLED=0 go build -trimpath -o "$out/ddpgate" ./cmd/ddpgate) || fail "ddpgate does not build"
	found "$out/ddpgate"
fi

[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || fail "version is neither source nor of the form v1.2.0"

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail "there is no release for this system: give binary-path, or version: source" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no release for this processor: give binary-path, or version: source" ;;
esac

archive=ddpgate_${version#v}_${os}_$arch.tar.gz
want=$(checksum "$archive")
[ -n "$want" ] || fail "the action has no checksum of $archive: use a newer action, or version: source"

curl --fail --silent --show-error --location --retry 3 --max-time 300 --output "$out/$archive" "$releases/$version/$archive" ||
	fail "$archive cannot be fetched"
if command -v sha256sum >/dev/null; then
	got=$(sha256sum "$out/$archive")
else
	got=$(shasum -a 256 "$out/$archive")
fi
[ "${got%% *}" = "$want" ] || fail "$archive is not the one that was released: its checksum is ${got%% *}, not $want"
tar -xzf "$out/$archive" -C "$out" ddpgate
found "$out/ddpgate"
