# Functions for cases; each case begins with `. "$CASES/common.sh"`.

skidscan() { "$SKIDSCAN" "$@"; }

# Values of JSON on standard input, one a line.
pick() { "$PYTHON" "$CASES/pick.py" "$@"; }

# Skips the whole case for a reason. Only before its first output: a skip hides what differs before it.
skip() { echo "$*" > "$SKIP_REASON"; exit 80; }

# Skips the whole case unless a program is installed.
needs() { command -v "$1" > /dev/null || skip "$1 is not installed"; }
