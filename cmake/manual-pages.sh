#!/bin/sh
# Writes a manual page of the program and one of each command; help2man makes them from the help.
# DIRECTORY.source is a copy of all that they are made of.
# usage: manual-pages.sh PROGRAM DIRECTORY HELP2MAN
set -eu
program=$1
directory=$2
help2man=$3
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The widest help. The same program always has the same pages, so they have no date.
export COLUMNS=200 SOURCE_DATE_EPOCH=0
version=$("$program" --version)
"$program" complete '' >"$work/commands"
commands=$(sed '1d; s/\t.*//' "$work/commands")

# is_related COMMAND OTHER: whether the help of a command mentions the other. The program's lists all.
is_related() {
  [ -z "$1" ] || { [ "$1" != "$2" ] && sed '1,/^Usage:/d' "$work/help" | grep -qw "skidscan $2"; }
}

# see_also COMMAND
see_also() {
  echo '[SEE ALSO]'
  [ -z "$1" ] || echo '.BR skidscan (1),'
  for other in $commands; do
    ! is_related "$1" "$other" || echo ".BR skidscan-$other (1),"
  done
  cat <<'END'
.BR perf-record (1)
.PP
Documents named docs/... are in share/doc/skidscan below the installation prefix of skidscan, such as /usr.
END
}

# page COMMAND; empty: of the program itself
page() {
  name=skidscan${1:+-$1}
  "$program" ${1:+"$1"} --help >"$work/help"
  see_also "$1" >"$work/see-also"
  # help2man runs a program of the page's name.
  printf '#!/bin/sh\nawk -f "%s" "%s"\n' "$here/help2man.awk" "$work/help" >"$work/$name"
  chmod +x "$work/$name"
  "$help2man" --no-info --source="$version" --version-string="${version#* }" --include="$work/see-also" \
    --name="$(sed '/^Usage:/,$d' "$work/help" | tr '\n' ' ')" "$work/$name" >"$work/page"
  sed 's/"January 1970"/""/; s/]\\fR/\\fR]/g' "$work/page" >"$directory/$name.1"
}

# The pages are made again only if what they are made of is different.
{
  for command in '' $commands; do "$program" ${command:+"$command"} --help; done
  echo "$version"
  cat "$0" "$here/help2man.awk"
} >"$work/source"
if cmp -s "$work/source" "$directory.source"; then exit; fi
rm -rf "$directory" # pages of removed commands
mkdir -p "$directory"
page ''
for command in $commands; do page "$command"; done
cp "$work/source" "$directory.source"
