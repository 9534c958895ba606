#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""motion-watch and motion-recorder as a user runs them: results, refusals, and a recorder that is killed.

    programs_test.py <folder of the programs> <built with CUDA: 0 or 1>
"""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BIN = Path(sys.argv.pop(1))
BUILT_WITH_CUDA = sys.argv.pop(1) == "1"
WATCHDOG_S = 100


class Terminal:
    """What a program writes to a terminal."""

    def __init__(self):
        self.outside, self.inside = pty.openpty()
        self.deadline = time.monotonic() + WATCHDOG_S

    def close_inside(self):
        os.close(self.inside)
        self.inside = None

    def close(self):
        for end in (self.outside, self.inside):
            if end is not None:
                os.close(end)

    def read_some(self):
        """Some text; nothing once the program has ended."""
        left = self.deadline - time.monotonic()
        if left < 0 or not select.select([self.outside], [], [], left)[0]:
            raise TimeoutError("the program did not end")
        try:
            return os.read(self.outside, 65536).decode()
        except OSError:  # how Linux tells that the other end is closed
            return ""

    def read_all(self):
        return "".join(iter(self.read_some, ""))


class Programs(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = Path(self.temporary.name)
        self.out = self.folder / "out"
        runtime = self.folder / "runtime"
        self.environment = {**os.environ, "WEFTLINE_RUNTIME_DIR": str(runtime),
                            "XDG_CACHE_HOME": str(self.folder / "no-cache"), "HOME": str(self.folder)}

    def watch(self, *arguments):
        return subprocess.run([BIN / "motion-watch", "--out", self.out, *arguments], env=self.environment,
                              capture_output=True, text=True, timeout=WATCHDOG_S, check=False)

    def end_with_the_test(self, process):
        for stream in (process.stdout, process.stderr):
            if stream:
                self.addCleanup(stream.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start_recorder(self, out=None, stdout=subprocess.DEVNULL, stderr=None):
        command = [BIN / "motion-recorder", "--catalog", self.out / "catalog.json",
                   "--out", out or self.folder / "events.jsonl", "--wait", str(WATCHDOG_S * 1000)]
        return self.end_with_the_test(
            subprocess.Popen(command, env=self.environment, stdout=stdout, stderr=stderr, text=True))

    def start(self, *arguments):
        """A job at full speed."""
        command = [BIN / "motion-watch", "--out", self.out, "--input", "synthetic", "--speed", "max", *arguments]
        return self.end_with_the_test(
            subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True))

    def start_job(self, *arguments):
        """The same, once the recorder that was started has an event."""
        job = self.start("--attach-wait", str(WATCHDOG_S * 1000), *arguments)
        return job, self.wait_for_an_event(job)

    def start_on_terminal(self, *arguments):
        terminal = Terminal()
        self.addCleanup(terminal.close)
        job = self.end_with_the_test(
            subprocess.Popen([BIN / "motion-watch", "--out", self.out, *arguments], env=self.environment,
                             stdout=terminal.inside, stderr=terminal.inside))
        terminal.close_inside()
        return job, terminal

    def wait_until(self, job, condition, complaint):
        deadline = time.monotonic() + WATCHDOG_S
        while not condition():
            self.assertIsNone(job.poll(), f"the job ended, and {complaint}")
            self.assertLess(time.monotonic(), deadline, complaint)
            time.sleep(0.01)

    def wait_for_an_event(self, job):
        events = self.folder / "events.jsonl"
        self.wait_until(job, lambda: events.exists() and events.stat().st_size > 0, "the recorder had no event")
        return events

    def synthetic(self, *arguments):
        return self.watch("--input", "synthetic", "--speed", "max", *arguments)

    def assert_refused(self, result, *words):
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_a_run_leaves_all_its_results(self):
        recorder = self.start_recorder()
        result = self.synthetic("--frames", "90", "--attach-wait", str(WATCHDOG_S * 1000))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(recorder.wait(WATCHDOG_S), 0)
        events = [json.loads(line) for line in (self.folder / "events.jsonl").read_text().splitlines()]
        self.assertEqual([event["frame"] for event in events], list(range(90)))
        self.assertTrue(any(event["boxes"] for event in events))
        self.assertEqual(json.loads((self.out / "plan.json").read_text())["schema"], "weftline.execution-plan")
        self.assertEqual((self.out / "contact-sheet.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertIn("<svg", (self.out / "report.html").read_text())
        self.assertIn("90 with a recipient", result.stdout)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()),
                         ["catalog.json", "contact-sheet.png", "plan.json", "report.html"])

    def test_an_observed_run_shows_its_counters_and_leaves_a_trace(self):
        result = self.synthetic("--frames", "60", "--observe")
        self.assertEqual(result.returncode, 0, result.stderr)
        for word in ("operator ", "queue full", "from source to sink", "pool ", "voluntary switches", "p99.9"):
            self.assertIn(word, result.stdout)
        events = json.loads((self.out / "trace.json").read_text())["traceEvents"]
        activations = [event["name"] for event in events if event["ph"] == "X"]
        for operator in json.loads((self.out / "plan.json").read_text())["operators"]:
            self.assertGreaterEqual(activations.count(operator["path"]), 60, operator["path"])

    def test_without_a_recorder_the_run_goes_on(self):
        result = self.synthetic("--frames", "30")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("30 events, 0 with a recipient", result.stdout)

    def test_a_recorder_killed_in_mid_run_does_not_stop_the_job(self):
        recorder = self.start_recorder()
        job, events = self.start_job("--frames", "1000000")
        recorder.send_signal(signal.SIGKILL)
        recorder.wait(WATCHDOG_S)
        # A second one gets events: the job goes on.
        events.unlink()
        second = self.start_recorder()
        self.wait_for_an_event(job)
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=WATCHDOG_S)
        self.assertEqual((job.returncode, second.wait(WATCHDOG_S)), (0, 0))

    def test_an_interrupt_finishes_what_is_on_its_way(self):
        recorder = self.start_recorder()
        job, events = self.start_job("--frames", "1000000")
        job.send_signal(signal.SIGINT)
        output, _ = job.communicate(timeout=WATCHDOG_S)
        self.assertEqual(job.returncode, 0)
        self.assertEqual(recorder.wait(WATCHDOG_S), 0)
        self.assertIn(f"{len(events.read_text().splitlines())} with a recipient", output)

    def test_an_interrupt_ends_the_wait_for_a_recorder(self):
        job = self.start("--attach-wait", str(10 * WATCHDOG_S * 1000))
        self.wait_until(job, (self.out / "catalog.json").exists, "no catalog came")
        job.send_signal(signal.SIGINT)
        output, _ = job.communicate(timeout=WATCHDOG_S)
        self.assertEqual(job.returncode, 0)
        self.assertIn("frames   0 in", output)

    def test_a_recorder_that_reads_no_more_holds_up_the_job_but_not_its_end(self):
        recorder = self.start_recorder()
        job, terminal = self.start_on_terminal("--input", "synthetic", "--speed", "max", "--frames", "1000000",
                                               "--attach-wait", str(WATCHDOG_S * 1000))
        self.wait_for_an_event(job)
        recorder.send_signal(signal.SIGSTOP)
        counts = []
        while len(counts) < 8 or counts[-1] == 0 or counts[-8] != counts[-1]:
            text = terminal.read_some()
            self.assertTrue(text, "the job ended")
            counts += [int(count) for count in re.findall(r"\r *(\d+) frames", text)]
        job.send_signal(signal.SIGINT)
        output = terminal.read_all()
        self.assertEqual(job.wait(WATCHDOG_S), 0)
        self.assertRegex(output, r"stopped  [1-9]\d* frames on their way were not finished")
        self.assertTrue((self.out / "report.html").exists())
        recorder.send_signal(signal.SIGCONT)
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(WATCHDOG_S), 1)

    def test_a_recorder_that_is_stopped_says_that_it_has_not_all(self):
        recorder = self.start_recorder(stdout=subprocess.PIPE)
        job, events = self.start_job("--frames", "1000000")
        recorder.send_signal(signal.SIGINT)
        output, _ = recorder.communicate(timeout=WATCHDOG_S)
        self.assertEqual(recorder.returncode, 1)
        count = len(events.read_text().splitlines())
        self.assertEqual(output, f"recorded {count} events in {events}; stopped before the end of the stream\n")
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=WATCHDOG_S)
        self.assertEqual(job.returncode, 0)

    @unittest.skipUnless(Path("/dev/full").exists(), "this system has no /dev/full")
    def test_a_recorder_without_room_ends_and_the_job_goes_on(self):
        full = self.start_recorder(out="/dev/full", stderr=subprocess.PIPE)
        job = self.start("--frames", "1000000", "--attach-wait", str(WATCHDOG_S * 1000))
        _, errors = full.communicate(timeout=WATCHDOG_S)
        self.assertEqual((full.returncode, len(errors.splitlines())), (2, 1), errors)
        self.assertIn("No space left", errors)
        recorder = self.start_recorder()
        self.wait_for_an_event(job)
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=WATCHDOG_S)
        self.assertEqual((job.returncode, recorder.wait(WATCHDOG_S)), (0, 0))

    def test_an_error_on_a_terminal_is_a_line_of_its_own(self):
        job, terminal = self.start_on_terminal("--input", self.broken_video(15), "--speed", "realtime")
        output = terminal.read_all()
        self.assertEqual(job.wait(WATCHDOG_S), 2)
        self.assertRegex(output, r"\r *\d+ frames .* slots in use\x1b\[K\r\nmotion-watch: [^\r\n]*frame 14[^\r\n]*\r\n$")

    def test_without_a_terminal_there_is_a_line_every_few_seconds(self):
        result = self.watch("--input", "synthetic", "--speed", "realtime", "--frames", "200")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("\r", result.stdout)
        self.assertNotIn("\x1b", result.stdout)
        self.assertGreaterEqual(len(re.findall(r"^ *\d+ frames .* slots in use$", result.stdout, re.M)), 2)

    def test_a_missing_file_is_one_line_and_leaves_nothing(self):
        self.assert_refused(self.watch("--input", str(self.folder / "nowhere.avi")), "nowhere.avi")
        self.assertFalse(self.out.exists())

    def test_a_corrupt_file_is_one_line_and_leaves_nothing(self):
        broken = self.folder / "broken.avi"
        broken.write_bytes(bytes(range(256)) * 64)
        self.assert_refused(self.watch("--input", str(broken)), "broken.avi")
        self.assertFalse(self.out.exists())

    def broken_video(self, frames):
        """Raw video whose last frame has lost its mark: the job starts, and fails in mid-run."""
        video = self.folder / "broken.y4m"
        frame = b"FRAME\n" + bytes(64 * 48 * 3 // 2)
        video.write_bytes(b"YUV4MPEG2 W64 H48 F10:1 C420jpeg\n" + (frames - 1) * frame + b"FAULT\n" + frame)
        return str(video)

    def test_a_file_that_breaks_in_mid_run_leaves_nothing(self):
        self.out = self.folder / "made" / "for" / "this"
        result = self.watch("--input", self.broken_video(40), "--speed", "max")
        self.assert_refused(result, "broken.y4m", "frame 39")
        self.assertFalse((self.folder / "made").exists())

    def test_a_failed_run_leaves_the_results_of_an_earlier_one(self):
        self.assertEqual(self.synthetic("--frames", "5").returncode, 0)
        (self.out / "catalog.json").write_text("as it was")
        before = {path.name: path.read_bytes() for path in self.out.iterdir()}
        self.assert_refused(self.watch("--input", self.broken_video(40), "--speed", "max"), "broken.y4m")
        self.assertEqual({path.name: path.read_bytes() for path in self.out.iterdir()}, before)

    def test_a_second_job_is_refused_and_leaves_nothing(self):
        recorder = self.start_recorder()
        job, _ = self.start_job("--frames", "1000000")
        first_out, self.out = self.out, self.folder / "second"
        self.assert_refused(self.synthetic("--frames", "5"), "CHANNEL_PUBLISHER_EXISTS")
        self.assertFalse(self.out.exists())
        self.out = first_out
        self.assert_refused(self.synthetic("--frames", "5"), "CHANNEL_PUBLISHER_EXISTS")
        self.assertTrue((self.out / "catalog.json").exists())
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=WATCHDOG_S)
        self.assertEqual((job.returncode, recorder.wait(WATCHDOG_S)), (0, 0))

    def test_an_unsafe_runtime_folder_is_one_line_and_leaves_nothing(self):
        runtime = self.folder / "runtime"
        runtime.mkdir()
        runtime.chmod(0o777)
        self.assert_refused(self.synthetic("--frames", "5"), "CHANNEL_DIRECTORY_UNSAFE")
        self.assertFalse(self.out.exists())

    def test_results_that_can_not_all_be_written_are_not_written_at_all(self):
        (self.out / "report.html").mkdir(parents=True)
        self.assert_refused(self.synthetic("--frames", "5"), "report.html", "Is a directory")
        self.assertEqual([path.name for path in self.out.iterdir()], ["report.html"])

    def test_an_unknown_device_names_those_that_exist(self):
        self.assert_refused(self.synthetic("--device", "cuda:99"), "cuda:99", "host", "emulated:0")
        if not BUILT_WITH_CUDA:
            self.assert_refused(self.synthetic("--device", "cuda:0"), "cuda:0", "no CUDA backend", "WEFTLINE_CUDA")
        self.assert_refused(self.synthetic("--device", "gpu"), "gpu", "emulated:N")
        self.assertFalse(self.out.exists())

    def test_an_unwritable_folder_is_one_line(self):
        blocker = self.folder / "out"
        blocker.write_text("a file where the folder should be")
        self.assert_refused(self.synthetic(), "--out", "out")
        self.assertEqual(blocker.read_text(), "a file where the folder should be")

    def test_wrong_options_are_one_line(self):
        self.assert_refused(self.watch("--speed", "ludicrous"), "--speed", "--help")
        for frames in ("0", "-3", "many", "2x", "1.5", "99999999999999999999"):
            self.assert_refused(self.watch("--frames", frames),
                                f"--frames: '{frames}' is no number of frames; use 1 or more; see --help")
        self.assert_refused(self.watch("--input", ""), "--input")

    def test_the_recorder_refuses_in_one_line(self):
        def record(*arguments):
            return subprocess.run([BIN / "motion-recorder", *arguments], env=self.environment, capture_output=True,
                                  text=True, timeout=WATCHDOG_S, check=False)
        catalog = self.folder / "catalog.json"
        self.assert_refused(record("--catalog", str(catalog), "--out", str(self.folder / "e")), "catalog.json",
                            "; start motion-watch, or pass --wait")
        catalog.write_text('{"schema": 3}')
        self.assert_refused(record("--catalog", str(catalog), "--out", str(self.folder / "e")), "catalog.json")
        self.assertEqual(self.synthetic("--frames", "2").returncode, 0)
        good = str(self.out / "catalog.json")
        self.assert_refused(record("--catalog", good, "--endpoint", "nothing", "--out", str(self.folder / "e")),
                            "nothing", "events")
        self.assert_refused(record("--catalog", good, "--out", str(self.folder / "no" / "e")),
                            "No such file or directory", "folder")
        self.assert_refused(record("--catalog", good, "--out", str(self.folder)), "Is a directory")


if __name__ == "__main__":
    unittest.main(verbosity=2)
