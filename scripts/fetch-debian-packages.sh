#!/bin/sh
# Downloads Debian packages of any architecture with their dependencies, and extracts them below a
# directory, to run programs from it or to build a guest. Nothing is installed, maintainer scripts are not
# run, and no root is needed: apt uses a separate state with the package sources and keys of this machine
# and no installed packages.
# usage: fetch-debian-packages.sh --arch ARCH --into DIR [--suite SUITE]... [--without PACKAGE]... [--only]
#                                 PACKAGE...
#        fetch-debian-packages.sh --source --into DIR PACKAGE...
#   --arch ARCH        Debian's name of the architecture: amd64, arm64
#   --into DIR         creates contents/ (of the packages, and what dpkg-query --root=DIR/contents reads),
#                      packages (lines with name and version) and apt/ (lists, the packages themselves,
#                      log); a repeated request does nothing
#   --suite SUITE      packages of another release of the same distribution (bullseye, trixie-backports): from
#                      the mirrors that this machine has for its own release, verified by the same keys; the
#                      last SUITE is preferred. Backports and experimental are used with the release that they
#                      extend
#   --without PACKAGE  treat PACKAGE as installed: neither it nor its dependencies are downloaded
#   --only             only the named packages, without dependencies
#   --source           the upstream sources of the packages, without Debian's changes; the package sources
#                      of this machine need not list sources
# exit status: 0 done, 1 failed, 64 wrong usage, 69 the package sources cannot be reached
set -eu
export LC_ALL=C

usage() {
  echo "usage: $0 --arch ARCH --into DIR [--suite SUITE]... [--without PACKAGE]... [--only] PACKAGE..." >&2
  echo "       $0 --source --into DIR PACKAGE..." >&2
  exit 64
}
fail() { # status, message
  echo "$0: $2" >&2
  exit "$1"
}
is_name() { # letters, digits, + - . only, which apt cannot mistake for an option or a file
  case "$1" in
    '' | *[!a-z0-9+.-]* | [!a-z0-9]*) return 1 ;;
  esac
}

arch='' into='' only=no source=no without='' packages='' suites='' preferred=''
while [ $# -gt 0 ]; do
  case "$1" in
    --arch | --into | --suite | --without)
      [ $# -ge 2 ] || usage
      case "$1" in
        --arch) arch=$2 ;;
        --into) into=$2 ;;
        --suite)
          is_name "$2" || fail 64 "'$2' is not the name of a suite"
          case $2 in
            *-backports) suites="$suites ${2%-backports} $2" ;;
            experimental) suites="$suites sid $2" ;;
            *) suites="$suites $2" ;;
          esac
          preferred=$2
          ;;
        --without) is_name "$2" || fail 64 "'$2' is not a package name"; without="$without $2" ;;
      esac
      shift
      ;;
    --only) only=yes ;;
    --source) source=yes ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) usage ;;
    *) is_name "$1" || fail 64 "'$1' is not a package name"; packages="$packages $1" ;;
  esac
  shift
done
if [ -z "$into" ] || [ -z "$packages" ]; then usage; fi
if [ "$source" = yes ]; then
  if [ -n "$arch$without$suites" ] || [ "$only" = yes ]; then usage; fi
  arch=$(dpkg --print-architecture)
fi
is_name "$arch" || usage
for tool in apt-get dpkg-deb tar; do
  command -v "$tool" >/dev/null || fail 1 "$tool is missing; expected Debian or a derived system"
done

# The directory is emptied below, so an unknown one is refused.
if [ -n "$(ls -A "$into" 2>/dev/null)" ] && [ ! -f "$into/apt/apt.conf" ]; then
  fail 1 "$into is not a directory of this script; pass an empty or new directory to --into"
fi
mkdir -p "$into/apt"
into=$(cd "$into" && pwd)
request="arch $arch,${suites:+ suites$suites,} source $source, only $only, without$without, packages$packages"
if [ -d "$into/contents" ] && [ "$(cat "$into/request" 2>/dev/null)" = "$request" ]; then exit; fi
rm -rf "$into/request" "$into/contents" "$into/extracting" "$into/apt/archives" "$into/apt/placeholders"
mkdir -p "$into/apt/lists/partial" "$into/apt/archives/partial"

# An empty status file: nothing is installed. Hooks of this machine's apt (such as those that empty
# its cache) are cleared, because they do not apply to this state.
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

# The package sources of this machine with $suites in the place of its own release, whose name is $own; keys
# and options stay as they are, and sources without $own (updates, third parties) are left out.
# shellcheck disable=SC2016 # fields of awk
other_suites='
  function is_own(name) { return name == own || name ~ /^(oldstable|stable|testing|unstable|sid)$/ }
  function has_own(names, i, n, name) {
    n = split(names, name, /[[:space:]]+/)
    for (i = 1; i <= n; i++) if (is_own(name[i])) return 1
    return 0
  }
  function end_paragraph() {
    if (paragraph != "" && has_own(found)) print paragraph "Suites:" suites "\n"
    paragraph = found = ""; in_suites = 0
  }
  one_line && /^deb[[:space:]]/ {
    # deb [options] URI SUITE COMPONENT...
    match($0, /^deb[[:space:]]+(\[[^]]*\][[:space:]]+)?[^[:space:]]+[[:space:]]+/)
    begin = substr($0, 1, RLENGTH)
    n = split(substr($0, RLENGTH + 1), word, /[[:space:]]+/)
    if (!is_own(word[1])) next
    components = ""
    for (i = 2; i <= n; i++) components = components " " word[i]
    m = split(suites, suite, " ")
    for (i = 1; i <= m; i++) print begin suite[i] components
    next
  }
  one_line { next }
  /^[[:space:]]*$/ { end_paragraph(); next }
  /^#/ { next }
  tolower($0) ~ /^suites:/ { in_suites = 1; found = substr($0, 8); next }
  in_suites && /^[[:space:]]/ { found = found " " $0; next }
  { in_suites = 0; paragraph = paragraph $0 "\n" }
  END { end_paragraph() }'

index=Packages
if [ "$source" = yes ] || [ -n "$suites" ]; then
  mkdir -p "$into/apt/sources"
  rm -f "$into/apt/sources"/*
  # shellcheck source=/dev/null
  own=$(. /etc/os-release && echo "${VERSION_CODENAME-}") || true
  list='' parts=''
  eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
  for file in "$list" "${parts%/}"/*.list "${parts%/}"/*.sources; do
    [ -f "$file" ] || continue
    if [ "$source" = yes ]; then
      # The same lists with the other type.
      index=Sources
      sed 's/^deb\([[:space:]]\)/deb-src\1/; s/^Types:.*/Types: deb-src/' "$file"
    else
      case $file in *.sources) one_line='' ;; *) one_line=1 ;; esac
      awk -v own="$own" -v suites="$suites" -v one_line="$one_line" "$other_suites" "$file"
    fi >"$into/apt/sources/${file##*/}"
  done
  [ -z "$suites" ] || grep -q . "$into/apt/sources"/* ||
    fail 69 "this machine has no package source of its own release (${own:-unknown}), whose mirror could have$suites"
  cat >>"$into/apt/apt.conf" <<CONFIG
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$into/apt/sources/";
CONFIG
  [ -z "$preferred" ] || echo "APT::Default-Release \"$preferred\";" >>"$into/apt/apt.conf"
fi
apt() { apt-get -q -y -c "$into/apt/apt.conf" "$@" >>"$log" 2>&1; }
placeholder() { # package: a status entry on hold, in the version that the others depend on
  printf 'Package: %s\nStatus: hold ok installed\nArchitecture: %s\n' "$1" "$arch"
  apt-cache -c "$into/apt/apt.conf" show --no-all-versions "$1" 2>>"$log" |
    grep -E '^(Version|Multi-Arch|Provides): ' || echo 'Version: 0'
  printf 'Maintainer: none <none>\nDescription: left out\n\n'
}
print_errors() { grep -E '^(E|W|Err)[ :]' "$log" | tail -n 8 | sed 's/^/  /' >&2; }

# An unreachable source is no problem if the others have the packages; third parties need not have a suite.
if { ! apt update && [ -z "$suites" ]; } || ! ls "$into"/apt/lists/*_"$index"* >/dev/null 2>&1; then
  print_errors
  fail 69 "no list of $index for $arch could be downloaded; check the network and the package sources (log: $log)"
fi
for package in $without; do
  placeholder "$package" >>"$into/apt/placeholders"
done
[ -z "$without" ] || mv "$into/apt/placeholders" "$into/apt/status"
if [ "$source" = yes ]; then
  # shellcheck disable=SC2086 # one argument per package
  (cd "$into/apt/archives" && apt source --download-only $packages)
elif [ "$only" = yes ]; then
  # shellcheck disable=SC2086 # one argument per package
  (cd "$into/apt/archives" && apt download $packages)
else
  # shellcheck disable=SC2086
  apt install --download-only $packages
fi || {
  status=1
  ! grep -qE '^(E: Failed to fetch|Err:)' "$log" || status=69
  print_errors
  fail "$status" "download failed for $arch:$packages (log: $log)"
}

# /bin, /sbin and /lib are links into /usr on a merged system; packages of this release use both forms.
# Owners and set-user-id bits are not needed.
mkdir -p "$into/extracting/usr/bin" "$into/extracting/usr/sbin" "$into/extracting/usr/lib" \
  "$into/extracting/var/lib/dpkg"
ln -s usr/bin usr/sbin usr/lib "$into/extracting/"
for package in "$into"/apt/archives/*.deb; do
  [ -f "$package" ] || continue
  dpkg-deb --fsys-tarfile "$package" >"$into/apt/contents.tar" ||
    fail 1 "$package: cannot be extracted"
  tar -x -C "$into/extracting" --keep-directory-symlink --no-same-owner --no-same-permissions \
    -f "$into/apt/contents.tar" || fail 1 "$package: cannot be extracted"
  { dpkg-deb --field "$package" && printf 'Status: install ok installed\n\n'; } \
    >>"$into/extracting/var/lib/dpkg/status" || fail 1 "$package: cannot be read"
  # shellcheck disable=SC2016 # fields of dpkg-deb
  dpkg-deb --show --showformat '${Package} ${Version}\n' "$package"
done >"$into/packages"
for archive in "$into"/apt/archives/*.orig.tar.[gx]z; do
  [ -f "$archive" ] || continue
  tar -x -C "$into/extracting" --no-same-owner -f "$archive" || fail 1 "$archive: cannot be extracted"
  echo "${archive##*/}" >>"$into/packages"
done
rm -f "$into/apt/contents.tar"
mv "$into/extracting" "$into/contents"
printf '%s\n' "$request" >"$into/request"
