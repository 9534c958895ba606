#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""motion-watch and motion-recorder as a user runs them: results, refusals, and a recorder that is killed.

    programs_test.py <folder of the programs>
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BIN = Path(sys.argv.pop(1))
WATCHDOG_S = 100


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

    def start_recorder(self):
        command = [BIN / "motion-recorder", "--catalog", self.out / "catalog.json",
                   "--out", self.folder / "events.jsonl", "--wait", str(WATCHDOG_S * 1000)]
        recorder = subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        return recorder

    def start_job(self, *arguments):
        """A job at full speed, once the recorder that was started has an event."""
        job = subprocess.Popen([BIN / "motion-watch", "--out", self.out, "--input", "synthetic", "--speed", "max",
                                "--attach-wait", str(WATCHDOG_S * 1000), *arguments],
                               env=self.environment, stdout=subprocess.PIPE, text=True)
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        return job, self.wait_for_an_event(job)

    def wait_for_an_event(self, job):
        events = self.folder / "events.jsonl"
        deadline = time.monotonic() + WATCHDOG_S
        while not (events.exists() and events.stat().st_size > 0):
            self.assertIsNone(job.poll(), "the job ended before the recorder had an event")
            self.assertLess(time.monotonic(), deadline, "no event came")
            time.sleep(0.01)
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
        self.assert_refused(self.synthetic("--device", "gpu"), "gpu", "emulated:N")
        self.assertFalse(self.out.exists())

    def test_an_unwritable_folder_is_one_line(self):
        blocker = self.folder / "out"
        blocker.write_text("a file where the folder should be")
        self.assert_refused(self.synthetic(), "--out", "out")
        self.assertEqual(blocker.read_text(), "a file where the folder should be")

    def test_wrong_options_are_one_line(self):
        self.assert_refused(self.watch("--speed", "ludicrous"), "--speed", "--help")
        self.assert_refused(self.watch("--frames", "0"), "--frames")
        self.assert_refused(self.watch("--frames", "many"), "--frames")
        self.assert_refused(self.watch("--input", ""), "--input")

    def test_the_recorder_refuses_in_one_line(self):
        def record(*arguments):
            return subprocess.run([BIN / "motion-recorder", *arguments], env=self.environment, capture_output=True,
                                  text=True, timeout=WATCHDOG_S, check=False)
        catalog = self.folder / "catalog.json"
        self.assert_refused(record("--catalog", str(catalog), "--out", str(self.folder / "e")), "catalog.json")
        catalog.write_text('{"schema": 3}')
        self.assert_refused(record("--catalog", str(catalog), "--out", str(self.folder / "e")), "catalog.json")
        self.assertEqual(self.synthetic("--frames", "2").returncode, 0)
        good = str(self.out / "catalog.json")
        self.assert_refused(record("--catalog", good, "--endpoint", "nothing", "--out", str(self.folder / "e")),
                            "nothing", "events")
        self.assert_refused(record("--catalog", good, "--out", str(self.folder / "no" / "e")), "folder")


if __name__ == "__main__":
    unittest.main(verbosity=2)
