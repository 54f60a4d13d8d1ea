"""Hostile and honest programs, run as the stage does it, on the fixtures of image-accuracy."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from mlrb_kit.rejected import Rejected
from scorer_library.programs import run as runner
from scorer_library.programs.answers import Answered, Cost, answer_test, read_answered
from scorer_library.programs.labels import read_test
from scorer_library.programs.measure import accuracy, time_weighted
from scorer_library.programs.predictions import read_predictions
from scorer_library.programs.run import descendants

SCORERS = Path(__file__).resolve().parents[2]
PRIVATE = SCORERS / "image-accuracy/fixtures/private"
PROGRAMS = SCORERS / "testing/programs"
WRITES_ROWS = """
import csv, sys
from pathlib import Path
with (Path(sys.argv[2]) / "images.csv").open() as listed:
    ids = [row["image_id"] for row in csv.DictReader(listed)]
rows = "".join(f"{one},dark\\n" for one in ids)
Path("submission.csv").write_text("image_id,class\\n" + rows)
"""


class Programs(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mlrb-programs-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def private(self, **limits: float) -> Path:
        """The fixtures with other limits."""
        private = self.folder / "private"
        shutil.copytree(PRIVATE, private)
        settings = json.loads((private / "program.json").read_text())
        (private / "program.json").write_text(json.dumps({**settings, **limits}))
        return private

    def answered(self, text: str, private: Path = PRIVATE) -> Answered:
        program = self.folder / "submission/program"
        program.mkdir(parents=True)
        (program / "main.py").write_text(text)
        return self.run_folder(self.folder / "submission", private)

    def run_folder(self, submission: Path, private: Path) -> Answered:
        answers = self.folder / "answers"
        answers.mkdir()
        answer_test(submission, private, answers)
        self.assertEqual(descendants(), [])
        return read_answered(answers, private)

    def refused(self, reason: str, text: str, private: Path = PRIVATE) -> None:
        with self.assertRaisesRegex(Rejected, reason):
            self.answered(text, private)
        self.assertEqual(descendants(), [])

    def test_an_honest_program_is_right_and_its_cost_is_measured(self) -> None:
        found = self.run_folder(PROGRAMS / "tiny", PRIVATE)
        self.assertEqual(found.predictions, found.test.labels)
        self.assertGreater(found.cost.seconds, 0.01)
        self.assertGreater(found.cost.peak_bytes, 5e6)

    def test_a_program_that_looks_for_the_labels_finds_them_only_where_it_is_not_confined(self) -> None:
        found = self.run_folder(PROGRAMS / "reads-labels", PRIVATE)
        self.assertEqual(set(found.predictions.values()), {"none"})
        main = PROGRAMS / "reads-labels/program/main.py"
        command = [sys.executable, str(main), "--data_dir", str(PRIVATE / "test")]
        subprocess.run(command, cwd=self.folder, check=True)
        rows = (self.folder / "submission.csv").read_text().split()[1:]
        self.assertEqual(dict(row.split(",") for row in rows), read_test(PRIVATE).labels)

    def test_a_program_that_never_ends_is_ended_with_what_left_its_session(self) -> None:
        text = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    os.fork()\ntime.sleep(600)\n"
        started = time.monotonic()
        self.refused(r"did not end within 0\.5 s", text, self.private(seconds=0.5))
        self.assertLess(time.monotonic() - started, 20)

    def test_a_process_left_behind_is_ended_before_the_output_is_read(self) -> None:
        behind = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\n"
        found = self.answered(behind + WRITES_ROWS)
        self.assertEqual(accuracy(found, 0.5)[0], 0.5)

    def test_memory_of_all_processes_counts(self) -> None:
        text = "import os, time\nos.fork()\nos.fork()\nheld = bytearray(b'x') * 40_000_000\ntime.sleep(600)\n"
        self.refused(r"more than 0\.1 GB of memory", text, self.private(memoryBytes=100_000_000))

    def test_memory_of_a_process_with_an_odd_name_counts(self) -> None:
        names = (b"\\xff", b"a\\x0cb")
        for name in names:
            with self.subTest(name):
                shutil.rmtree(self.folder / "submission", ignore_errors=True)
                shutil.rmtree(self.folder / "private", ignore_errors=True)
                shutil.rmtree(self.folder / "answers", ignore_errors=True)
                text = (
                    "import ctypes, time\n"
                    f"ctypes.CDLL(None).prctl(15, b'{name.decode()}', 0, 0, 0)\n"
                    "held = bytearray(b'x' * 200_000_000)\ntime.sleep(20)"
                )
                private = self.private(memoryBytes=100_000_000, seconds=10)
                self.refused("more than 0.1 GB of memory", text, private)

    def test_memory_of_the_process_that_starts_a_program_does_not_count(self) -> None:
        kept = bytearray(os.urandom(1)) * 400_000_000  # a child begins with the kernel's peak of its parent
        found = self.run_folder(PROGRAMS / "tiny", PRIVATE)
        self.assertLess(found.cost.peak_bytes, len(kept) // 2)

    def test_memory_in_files_that_are_not_mapped_counts(self) -> None:
        text = (
            "import os, time\nheld = os.memfd_create('held')\n"
            "for _ in range(200):\n    os.write(held, bytes(1_000_000))\ntime.sleep(600)\n"
        )
        self.refused(r"more than 0\.1 GB of memory", text, self.private(memoryBytes=100_000_000))

    def test_no_tree_of_folders_makes_the_stage_fail(self) -> None:
        deep = (
            "import os\nfor _ in range(1500):\n    os.mkdir('d')\n    os.chdir('d')\nos.chdir(sys.argv[3])\n"
        )
        hidden = "import os\nos.mkdir('hidden')\nos.mkdir('hidden/below')\nos.chmod('hidden', 0o300)\n"
        self.refused("or hid some", f"import os, sys\nsys.argv.append(os.getcwd())\n{deep}{WRITES_ROWS}")
        if os.geteuid() != 0:  # who reads every folder
            self.refused("or hid some", hidden + WRITES_ROWS)

    def test_its_own_output_of_an_earlier_run_and_its_folders_do_not_hinder_a_program(self) -> None:
        program = self.folder / "submission/program"
        (program / "logs").mkdir(parents=True)
        (program / "logs/old.txt").write_text("old")
        (program / "logs/submission.csv").write_text("an example")
        (program / "submission.csv").write_text("image_id,class\n")
        text = "from pathlib import Path\nassert Path('logs/old.txt').read_text() == 'old'\n"
        text += "assert Path('logs/submission.csv').read_text() == 'an example'\n"
        (program / "main.py").write_text(f"{text}Path('logs/new.txt').write_text('new')\n{WRITES_ROWS}")
        found = self.run_folder(self.folder / "submission", PRIVATE)
        self.assertEqual(len(found.predictions), 6)

    def test_devices_take_their_own_requests(self) -> None:
        ask = (
            "import errno, fcntl\nwith open('/dev/null', 'rb') as file:\n    try:\n"
            "        fcntl.ioctl(file, 0x5401)\n    except OSError as error:\n"
            "        assert error.errno == errno.ENOTTY, error\n"
        )
        self.assertEqual(len(self.answered(ask + WRITES_ROWS).predictions), 6)

    def test_no_signal_reaches_the_process_that_takes_the_time(self) -> None:
        text = f"import os, signal\ntry:\n    os.kill({os.getpid()}, signal.SIGCONT)\n"
        found = self.answered(
            f"{text}    raise SystemExit('sent')\nexcept PermissionError:\n    pass\n{WRITES_ROWS}"
        )
        self.assertEqual(len(found.predictions), 6)

    def test_files_and_bytes_of_the_working_folder_are_limited(self) -> None:
        text = "import time\nfor at in range(10_100):\n    open(f'f{at}', 'w').close()\ntime.sleep(600)\n"
        self.refused("10 000 files", text)

    def test_other_paths_programs_and_writes_are_refused(self) -> None:
        tries = """
import os, socket, subprocess, sys
from pathlib import Path
home = Path(__file__).resolve().parent
for attempt in (
    lambda: os.listdir("/"),
    lambda: Path(sys.argv[2], "images.csv").write_text("x"),
    lambda: (home / "main.py").write_text("x"),
    lambda: (Path.cwd().parent / "escaped").write_text("x"),
    lambda: subprocess.run(["/bin/sh", "-c", "true"]),
    lambda: Path("/etc/passwd").read_text(),
    lambda: Path(f"/proc/{os.getppid()}/mem").open("rb").read(1),
):
    try:
        attempt()
    except OSError:
        continue
    raise SystemExit(f"was allowed: {attempt.__code__.co_firstlineno}")
"""
        found = self.answered(tries + WRITES_ROWS)
        self.assertEqual(len(found.predictions), 6)

    def test_an_output_that_is_no_plain_file_is_rejected_without_waiting(self) -> None:
        self.refused("no plain file", "import os\nos.mkfifo('submission.csv')\n")

    def test_a_huge_output_is_rejected_unread(self) -> None:
        self.refused("too many for one row", "open('submission.csv', 'w').write('x' * 1_000_000)\n")

    def test_the_end_of_what_it_printed_is_in_the_reason(self) -> None:
        self.refused(
            "exit status 1: .*no such weights", "print('x' * 10_000)\nraise SystemExit('no such weights')\n"
        )

    def test_an_infinity_a_wrong_header_and_bytes_are_rejected(self) -> None:
        for content, reason in (
            (b"image_id,class\nimage-0,inf\n", "non-finite output"),
            (b"image_id,class\nimage-0,\n", "no prediction for"),
            (b"id,label\n", "expected image_id,class"),
            (b"\xff\xfe", "not UTF-8"),
            (b"image_id,class\nimage-0\n", "has 1 values, expected 2"),
        ):
            with self.subTest(reason), self.assertRaisesRegex(Rejected, reason):
                work = self.folder / reason.replace(" ", "-")
                work.mkdir()
                (work / "submission.csv").write_bytes(content)
                predictions_in(work)

    def test_twe_is_accuracy_squared_over_minutes(self) -> None:
        found = Answered(read_test(PRIVATE), {}, Cost(seconds=30.0, peak_bytes=1))
        value, error = time_weighted(found, 0.5)
        self.assertAlmostEqual(value, 0.5)
        self.assertAlmostEqual(error, 2 * 0.5 * (0.25 / 6) ** 0.5 / 0.5)

    def test_without_landlock_the_stage_fails_and_blames_no_submission(self) -> None:
        self.addCleanup(setattr, runner.confine, "landlock_version", runner.confine.landlock_version)
        runner.confine.landlock_version = lambda: 5
        with self.assertRaisesRegex(RuntimeError, "does not offer"):
            self.answered(WRITES_ROWS)


def predictions_in(work: Path) -> None:
    read_predictions(work, "class", [f"image-{at}" for at in range(6)])


if __name__ == "__main__":
    unittest.main()
