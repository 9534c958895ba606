# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts in ci/ and tools/: arguments, steps with a timing and a log, and the sum of
# test results. Sourced; expects `set -uo pipefail` and sets `root` and `jobs`.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build/logs
jobs=$(nproc)
passed=0
failed=0
skipped=0
if ! { mkdir -p "$logs" && [[ -w $logs ]]; } 2> /dev/null; then
  echo "${0##*/}: cannot write to $logs; run as the owner of the checkout, or in a copy of your own" >&2
  exit 1
fi
# One checkout finds in the compiler cache what another has put there.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

# For a script that was called with an argument that it does not take, or with --help.
usage() {  # <how it is called> <argument>
  if [[ $2 == -h || $2 == --help ]]; then
    echo "usage: $1"
    exit 0
  fi
  echo "${0##*/}: '$2' is no argument for this; usage: $1" >&2
  exit 2
}

# Runs a command into a log. One line when it starts, one when it ends; on failure the log's end.
step() {  # <title> <command> [<argument>...]
  local title=$1 log started=$SECONDS result=0
  shift
  log=$logs/$(tr -c 'a-zA-Z0-9\n' '-' <<< "$title").log
  echo "-- $title"
  "$@" > "$log" 2>&1 || result=$?
  if ((result == 0)); then
    echo "   ok, $((SECONDS - started)) s"
  else
    tail -n 40 "$log" | sed 's/^/   | /'
    echo "   FAILED after $((SECONDS - started)) s; all of it: ${log#"$root/"}"
  fi
  return "$result"
}

# A step that counts as one failed test when it fails.
checked_step() {
  step "$@" || { failed=$((failed + 1)); return 1; }
}

configure_preset() {  # <preset> [<cmake argument>...]
  (cd "$root" && cmake --preset "$@")
}

# Passes output on, and shows the terminal every tenth of the way that ninja or ctest tell.
progress() {
  awk '
    { print }
    match($0, /^\[ *[0-9]+%\]/) { show(substr($0, 2, 3) / 10) }
    match($0, /^ *[0-9]+\/[0-9]+ Test/) { split($1, part, "/"); show(10 * part[1] / part[2]) }
    function show(tenth) {
      tenth = int(tenth)
      if (tenth > last) { print "   " tenth * 10 " %" | "cat >&3"; fflush("cat >&3"); last = tenth }
    }'
}

build_preset() {  # <preset> [<target>...]; without a target, all
  local preset=$1
  shift
  NINJA_STATUS='[%p] ' cmake --build "$root/build/$preset" --parallel "$jobs" \
    ${1:+--target "$@"} 2>&1 | progress
}

test_preset() {  # <preset> [<ctest argument>...]
  local preset=$1
  shift
  ctest --test-dir "$root/build/$preset" --output-on-failure --no-tests=error \
    --parallel "$jobs" --output-junit "$root/build/$preset/tests.xml" "$@" 2>&1 | progress
}

# Adds a preset's test results to the sums, and shows what each failed test printed. A test that
# could not be started is a failed one.
count_tests() {  # <preset>
  local results=$root/build/$1/tests.xml now_passed now_failed now_skipped
  read -r now_passed now_failed now_skipped < <(python3 - "$results" <<'PYTHON'
import sys
import xml.etree.ElementTree as xml
passed = failed = skipped = 0
for case in xml.parse(sys.argv[1]).getroot().iter("testcase"):
    reason = case.find("skipped")
    if case.get("status") == "run":
        passed += 1
    elif reason is not None and reason.get("message", "").startswith("SKIP_"):
        skipped += 1
    else:
        failed += 1
        printed = (case.findtext("system-out") or "printed nothing").splitlines()
        print(f"   {case.get('name')} failed:", file=sys.stderr)
        for line in printed[-80:]:
            print(f"   | {line}", file=sys.stderr)
print(passed, failed, skipped)
PYTHON
  ) || { now_passed=0 now_failed=1 now_skipped=0; }
  echo "   $1: $now_passed passed, $now_failed failed, $now_skipped skipped"
  passed=$((passed + now_passed))
  failed=$((failed + now_failed))
  skipped=$((skipped + now_skipped))
}

# Configures, builds and tests one preset.
run_preset() {  # <preset> [<ctest argument>...]
  local preset=$1
  shift
  checked_step "configure $preset" configure_preset "$preset" || return 0
  checked_step "build $preset" build_preset "$preset" || return 0
  rm -f "$root/build/$preset/tests.xml"
  local ended=0 failed_before=$failed
  step "test $preset" test_preset "$preset" "$@" || ended=$?
  count_tests "$preset"
  if ((ended != 0 && failed == failed_before)); then
    echo "   $preset: no test failed, but ctest did; that counts as one failed"
    failed=$((failed + 1))
  fi
}

# The last line of a run, and its exit status.
summary() {
  echo "$passed passed, $failed failed, $skipped skipped"
  ((failed == 0))
}
exec 3>&1
