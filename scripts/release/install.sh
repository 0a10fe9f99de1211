#!/bin/sh
# Installs urtuu {version} for this user, or upgrades it. It needs no root and reports nothing to anyone.
#
#   sh install.sh [--prefix FOLDER] [--from ADDRESS]
#
# The command goes to bin/ below the prefix (~/.local), manual pages, completions and documents to share/. ADDRESS is a
# mirror with the archive of this version; its checksum stands here.
set -eu

version='{version}'
from='{downloads}'
prefix=${HOME:+$HOME/.local}

sum_of() {
  case $1 in
{cases}
  esac
}

fail() {
  printf 'install: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf '  %s\n' "$2" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
    --prefix | --from) [ $# -ge 2 ] && [ -n "$2" ] || fail "$1 needs a value" ;;
    *) fail "unknown option $1" 'sh install.sh [--prefix FOLDER] [--from ADDRESS]' ;;
  esac
  [ "$1" = --prefix ] && prefix=$2 || from=$2
  shift 2
done
[ -n "$prefix" ] || fail 'HOME is not set' 'Name a folder with --prefix.'
[ -n "$from" ] || fail 'this installer has no address' 'Name a mirror or a folder: --from ADDRESS, --from file:///FOLDER'
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  *) fail "no executable for $(uname -s)" 'With Node.js 20 or newer: npm install --global urtuu' ;;
esac
case $(uname -m) in
  x86_64 | amd64) system=$system-x64 ;;
  aarch64 | arm64) system=$system-arm64 ;;
  *) fail "no executable for $(uname -m)" 'With Node.js 20 or newer: npm install --global urtuu' ;;
esac
name=urtuu-$version-$system

work=$(mktemp -d)
command=$prefix/bin/urtuu
fresh=$command.new.$$
trap 'rm -rf "$work" "$fresh"' EXIT
trap 'exit 1' HUP INT TERM

archive=$work/$name.tar.xz
download() {
  case $1 in
    file://*) cp "${1#file://}" "$archive"; return ;;
  esac
  if command -v curl >/dev/null; then curl -fsSL -o "$archive" "$1"
  elif command -v wget >/dev/null; then wget -q -O "$archive" "$1"
  else fail 'neither curl nor wget is installed'; fi
}
download "$from/$name.tar.xz" || fail "cannot download $from/$name.tar.xz"

if command -v sha256sum >/dev/null; then found=$(sha256sum "$archive"); else found=$(shasum -a 256 "$archive"); fi
[ "${found%% *}" = "$(sum_of "$system")" ] ||
  fail "the checksum of $name.tar.xz is wrong; nothing was installed" 'Download install.sh again, or use another mirror.'

tar -xJf "$archive" -C "$work" 2>/dev/null ||
  fail "cannot unpack $name.tar.xz" 'It needs xz (the Debian package xz-utils) and 200 MB of room for temporary files.'
# macOS runs nothing unsigned, and only a Mac can sign.
case $system in
  darwin-*) codesign --force --sign - "$work/$name/bin/urtuu" 2>/dev/null || fail 'cannot sign the executable' ;;
esac
[ "$("$work/$name/bin/urtuu" --version)" = "$version" ] ||
  fail 'the executable does not run here; nothing was installed' \
    'On Linux it needs glibc 2.28 and libatomic (the Debian package libatomic1). Or: npm install --global urtuu'

# What runs the old command goes on with it.
services=
for process in /proc/[0-9]*; do
  words=$(tr '\0' '\n' 2>/dev/null <"$process/cmdline") || continue
  program=$(readlink "$process/exe" 2>/dev/null) || program=${words%%
*}
  [ "$program" = "$command" ] || continue
  ! printf '%s\n' "$words" | grep -qx serve || services="$services ${process#/proc/}"
done
[ -d /proc/1 ] || services=$(ps -axo pid=,args= | awk -v program="$command" '$2 == program && / serve/ { print $1 }')

mkdir -p "$prefix/bin" || fail "cannot write to $prefix"
before=
[ ! -x "$command" ] || before=$("$command" --version 2>/dev/null) || before='another version'
cp "$work/$name/bin/urtuu" "$fresh" || fail "cannot write to $prefix/bin"
mv -f "$fresh" "$command"
cp -R "$work/$name/share" "$prefix/"

if [ -z "$before" ]; then printf 'Installed urtuu %s: %s\n' "$version" "$command"
else printf 'Replaced urtuu %s with %s: %s\n' "$before" "$version" "$command"; fi
case :$PATH: in *":$prefix/bin:"*) ;; *) printf 'Add %s to your PATH.\n' "$prefix/bin" ;; esac
for service in $services; do
  printf 'A service still runs the old version (pid %s). Restart it.\n' "$service"
done
cat <<END
To remove it:
  cd '$prefix' && rm -r bin/urtuu share/man/man[17]/urtuu* share/doc/urtuu \\
    share/bash-completion/completions/urtuu share/zsh/site-functions/_urtuu share/fish/vendor_completions.d/urtuu.fish
Jobs and profiles stay where they are: urtuu doctor names the folders.
END
