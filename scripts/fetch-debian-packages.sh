#!/bin/sh
# Fetches Debian packages of any architecture, with all that they depend on, and unpacks them below a
# directory, where programs can be run from or a guest be made of. Nothing is installed: apt works on
# a state of its own, which knows the package sources and keys of this machine and believes that no
# package is there yet; maintainer scripts are not run. No root needed.
# usage: fetch-debian-packages.sh --arch ARCH --into DIR [--without PACKAGE]... [--only] PACKAGE...
#   --arch ARCH        Debian's name of the architecture: amd64, arm64
#   --into DIR         gets root/ (what the packages hold), packages (a line each: name, version) and
#                      apt/ (lists, the packages themselves, log); same request again: nothing to do
#   --without PACKAGE  do as if PACKAGE was there: neither it nor what only it needs is fetched
#   --only             the named packages alone, without what they depend on
# exit status: 0 done, 1 failed, 64 wrong usage, 69 the package sources cannot be reached
set -eu
export LC_ALL=C

usage() {
  echo "usage: $0 --arch ARCH --into DIR [--without PACKAGE]... [--only] PACKAGE..." >&2
  exit 64
}
fail() { # status, message
  echo "$0: $2" >&2
  exit "$1"
}
is_name() { # letters, digits, + - . and nothing that apt takes for something else than a name
  case "$1" in
    '' | *[!a-z0-9+.-]* | [!a-z0-9]*) return 1 ;;
  esac
}

arch='' into='' only=no without='' packages=''
while [ $# -gt 0 ]; do
  case "$1" in
    --arch | --into | --without)
      [ $# -ge 2 ] || usage
      case "$1" in
        --arch) arch=$2 ;;
        --into) into=$2 ;;
        --without) is_name "$2" || fail 64 "not the name of a package: '$2'"; without="$without $2" ;;
      esac
      shift
      ;;
    --only) only=yes ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) usage ;;
    *) is_name "$1" || fail 64 "not the name of a package: '$1'"; packages="$packages $1" ;;
  esac
  shift
done
if [ -z "$into" ] || [ -z "$packages" ]; then usage; fi
is_name "$arch" || usage
for tool in apt-get dpkg-deb tar; do
  command -v "$tool" >/dev/null || fail 1 "$tool is missing: this takes Debian or a system made of it"
done

# What is emptied below must be ours.
if [ -n "$(ls -A "$into" 2>/dev/null)" ] && [ ! -f "$into/apt/apt.conf" ]; then
  fail 1 "$into holds something else: give --into a directory of its own"
fi
mkdir -p "$into/apt"
into=$(cd "$into" && pwd)
request="arch $arch, only $only, without$without, packages$packages"
[ ! -f "$into/request" ] || [ "$(cat "$into/request")" != "$request" ] || exit 0
rm -rf "$into/request" "$into/root" "$into/unpacking" "$into/apt/archives" "$into/apt/stand-ins"
mkdir -p "$into/apt/lists/partial" "$into/apt/archives/partial"

# An empty status file: nothing is installed. Hooks of this machine's apt (such as those that empty
# its cache) are not for this state.
log=$into/apt/log
: >"$log"
: >"$into/apt/status"
cat >"$into/apt/apt.conf" <<CONFIG
#clear APT::Architectures;
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
#clear DPkg::Pre-Install-Pkgs;
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Install-Recommends "false";
APT::Install-Suggests "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Dir::State "$into/apt";
Dir::State::lists "$into/apt/lists/";
Dir::State::status "$into/apt/status";
Dir::State::extended_states "$into/apt/extended_states";
Dir::Cache "$into/apt";
Dir::Cache::archives "$into/apt/archives/";
Dir::Log "$into/apt";
pkgCacheGen::ForceEssential ",";
CONFIG
apt() { apt-get -q -y -c "$into/apt/apt.conf" "$@" >>"$log" 2>&1; }
stands_in() { # package: the status of one on hold, in the version that the others ask for
  printf 'Package: %s\nStatus: hold ok installed\nArchitecture: %s\n' "$1" "$arch"
  apt-cache -c "$into/apt/apt.conf" show --no-all-versions "$1" 2>>"$log" |
    grep -E '^(Version|Multi-Arch|Provides): ' || echo 'Version: 0'
  printf 'Maintainer: none <none>\nDescription: left out\n\n'
}
said() { grep -E '^(E|W|Err)[ :]' "$log" | tail -n 8 | sed 's/^/  /' >&2; }

# A source that cannot be reached does no harm as long as the others have the packages.
if ! apt update || ! ls "$into"/apt/lists/*_Packages* >/dev/null 2>&1; then
  said
  fail 69 "no list of packages for $arch could be fetched: is there network, and do the sources have it? (log: $log)"
fi
for package in $without; do
  stands_in "$package" >>"$into/apt/stand-ins"
done
[ -z "$without" ] || mv "$into/apt/stand-ins" "$into/apt/status"
if [ "$only" = yes ]; then
  # shellcheck disable=SC2086 # one argument a package
  (cd "$into/apt/archives" && apt download $packages)
else
  # shellcheck disable=SC2086
  apt install --download-only $packages
fi || {
  status=1
  ! grep -qE '^(E: Failed to fetch|Err:)' "$log" || status=69
  said
  fail "$status" "could not fetch$packages for $arch (log: $log)"
}

# /bin, /lib and their kin are links into /usr on a merged system; the packages of this release still
# name them either way. Owners and the set-user-id bit are of no use here.
mkdir -p "$into/unpacking/usr/bin" "$into/unpacking/usr/sbin" "$into/unpacking/usr/lib"
ln -s usr/bin usr/sbin usr/lib "$into/unpacking/"
for package in "$into"/apt/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" >"$into/apt/contents.tar" ||
    fail 1 "$package: cannot be unpacked"
  tar -x -C "$into/unpacking" --keep-directory-symlink --no-same-owner --no-same-permissions \
    -f "$into/apt/contents.tar" || fail 1 "$package: cannot be unpacked"
  # shellcheck disable=SC2016 # fields of dpkg-deb
  dpkg-deb --show --showformat '${Package} ${Version}\n' "$package"
done >"$into/packages"
rm -f "$into/apt/contents.tar"
mv "$into/unpacking" "$into/root"
printf '%s\n' "$request" >"$into/request"
