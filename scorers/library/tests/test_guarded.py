"""An unexpected end on a submission's content is its fault where a good model passes, else it is ours."""

import errno
import json
import os
import signal
import sys
import tempfile
import unittest
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest import mock

from mlrb_kit import guarded
from mlrb_kit.answers import Prediction, read_answers, write_answers
from mlrb_kit.answers_stage import answers_stage
from mlrb_kit.guarded import fault_of
from mlrb_kit.rejected import Rejected
from mlrb_kit.results import write_json
from mlrb_kit.score_stage import Measured, score_stage
from mlrb_kit.stage import Stage

HOSTILE, OURS = "hostile", "good"


def raising(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def recurse() -> None:
    recurse()


def ended_by(number: signal.Signals) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), number)


def compute_for_ever() -> None:
    while True:
        pass


def take_memory() -> None:
    held = bytearray(2**32)
    held[::4096] = b"x" * len(held[::4096])


class UnexpectedEnd(unittest.TestCase):
    def judge(
        self,
        fail: Callable[[], None],
        *,
        control: Callable[[], None] = lambda: None,
        **limits: float,
    ) -> str | None:
        """Of a submission on which the judging script calls `fail`; on a good model it calls `control`."""
        with tempfile.TemporaryDirectory() as folder:

            def write(name: str, to: Path) -> None:
                (to / "content").write_text(name, encoding="utf-8")

            def act(at: Path) -> None:
                hostile = (at / "content").read_text(encoding="utf-8") == HOSTILE
                (fail if hostile else control)()

            write(HOSTILE, Path(folder))
            stage = Stage("score", {}, {}, {}, None, limits=limits)
            return fault_of(stage, act, Path(folder), partial(write, OURS))

    def test_every_unexpected_end_that_a_good_model_does_not_share_is_a_fault_with_a_reason(self) -> None:
        ends: dict[str, Callable[[], None]] = {
            "KeyError: 'float64'": raising(KeyError("float64")),
            "RuntimeError": raising(RuntimeError("CUDA error: device-side assert triggered")),
            "RecursionError": recurse,
            "OverflowError": raising(OverflowError("math range error")),
            "AssertionError": raising(AssertionError()),
            "MemoryError": raising(MemoryError()),
            "BaseException: panic": raising(BaseException("panic")),
            "GeneratorExit": raising(GeneratorExit()),
            "PermissionError": raising(PermissionError(errno.EACCES, "refused")),
            "SIGSEGV": ended_by(signal.SIGSEGV),
            "SIGKILL": ended_by(signal.SIGKILL),
            "SIGTERM": ended_by(signal.SIGTERM),
            "status 3": lambda: os._exit(3),
        }
        for words, fail in ends.items():
            with self.subTest(words):
                self.assertRegex(self.judge(fail) or "", f"a known-good model can: .*{words}")

    def test_a_limit_that_only_the_submission_reaches_is_its_fault(self) -> None:
        self.assertRegex(self.judge(compute_for_ever, timeMs=500) or "", "needs more than 1 s of computing")
        with mock.patch.object(guarded, "MEMORY_SLACK", 0):
            self.assertRegex(self.judge(take_memory, memoryBytes=2**30) or "", "MemoryError")

    def test_what_a_good_model_meets_too_ends_the_stage(self) -> None:
        for fail in (raising(KeyError("float64")), ended_by(signal.SIGSEGV)):
            with self.assertRaisesRegex(SystemExit, "a known-good model is not judged here either"):
                self.judge(fail, control=raising(ImportError("no module named torch")))

    def test_the_machine_is_at_fault_where_it_says_so_or_lacks_room(self) -> None:
        with self.assertRaisesRegex(SystemExit, "No space left"):
            self.judge(raising(OSError(errno.ENOSPC, "No space left on device")))
        with self.assertRaisesRegex(SystemExit, "the private data is at fault"):
            self.judge(raising(SystemExit("the private data is at fault")))
        with self.assertRaisesRegex(SystemExit, "run the stage where more memory is free"):
            self.judge(take_memory, memoryBytes=2**30)

    def test_nothing_of_a_good_model_is_left_where_the_stage_ends(self) -> None:
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(SystemExit):
            output = Path(folder, "score.json")

            def act(at: Path) -> None:
                if at != Path(folder):
                    output.write_text("good", encoding="utf-8")
                    return
                raise SystemExit("the machine") if output.exists() else KeyError()

            fault_of(Stage("score", {}, {}, {"score": output}, None), act, Path(folder), lambda _: None)
        self.assertFalse(output.exists())

    def test_an_end_that_does_not_happen_again_is_forgotten(self) -> None:
        with tempfile.TemporaryDirectory() as folder:

            def once() -> None:
                Path(folder, "seen").mkdir()

            def fail() -> None:
                if not Path(folder, "seen").exists():
                    once()
                    raise KeyError("once")

            self.assertIsNone(self.judge(fail))


class Scripts(unittest.TestCase):
    """A stage's script writes a rejection where the folder's content raises what nobody expected."""

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.at = Path(temporary.name)
        for name in ("submission", "private", "answers"):
            (self.at / name).mkdir()
        write_json(self.at / "admission.json", {"admitted": True, "reasons": []})
        write_answers(self.at / "answers", [Prediction("one", HOSTILE, 1, 0, "tokens")])
        control = mock.patch.object(guarded, "write_control", lambda to, size: (to / "good").touch())
        control.start()
        self.addCleanup(control.stop)

    def run_script(self, script: Callable[[], None], *more: str, **outputs: str) -> None:
        inputs = {"submission": "submission", "private": "private", "answers": "answers"}
        inputs["admission"] = "admission.json"
        flags = [f"--input={name}={self.at / path}" for name, path in inputs.items()]
        flags += [f"--output={name}={self.at / path}" for name, path in outputs.items()]
        flags += ["--param=version=1", "--param=unit=nats", "--param=direction=lower", *more]
        with mock.patch.object(sys, "argv", [str(self.at / "named" / "measure.py"), *flags]):
            script()

    def test_a_score_is_rejected_and_has_no_samples(self) -> None:
        def measure(folder: Path, _: Path) -> Measured:
            if not (folder / "good").exists():
                raise OverflowError("math range error")
            return Measured({"value": 1.0}, [{"id": "of the known-good model"}])

        def measure_text(folder: Path, _: Path) -> Measured:
            if HOSTILE in (folder / "answers.jsonl").read_text(encoding="utf-8"):
                raise RecursionError("too deep")
            return Measured({"value": 1.0}, [{"id": "of another text"}])

        for judge, reads, words in (
            (measure, "submission", "OverflowError: math range error"),
            (measure_text, "answers", "RecursionError: too deep"),
        ):
            self.run_script(partial(score_stage, judge, reads=reads), score="score.json", samples="s.jsonl")
            score = json.loads((self.at / "score.json").read_text(encoding="utf-8"))
            self.assertEqual((score["kind"], score["reason"].partition("can: ")[2]), ("rejected", words))
            self.assertEqual((self.at / "s.jsonl").read_text(encoding="utf-8"), "")

    def test_answers_are_rejected(self) -> None:
        def write(folder: Path, _: Path) -> list[Prediction]:
            if not (folder / "good").exists():
                raise KeyError("int8")
            return [Prediction("one", "of the known-good model", 1, 0, "tokens")]

        (self.at / "written").mkdir()
        self.run_script(partial(answers_stage, write), answers="written")
        with self.assertRaisesRegex(Rejected, "KeyError: 'int8'"):
            read_answers(self.at / "written", ["one"])

    def test_what_look_ahead_could_not_judge_is_not_opened_again(self) -> None:
        sys.path.insert(0, str(Path(__file__).parents[3] / "pipelines/steps"))
        import causality

        opened = mock.Mock(side_effect=RuntimeError("outside of the guarded process"))
        unjudged = mock.patch.object(causality, "fault_of", lambda *_: "it takes too long")
        with (
            mock.patch.object(causality, "tokenizer_of", opened),
            unjudged,
            mock.patch.object(causality, "scored_text", lambda *_: "text"),
        ):
            more = ['--param=scorers=["one"]']
            self.run_script(causality.main, *more, causality="causality.json", admission="written.json")
        admission = json.loads((self.at / "written.json").read_text(encoding="utf-8"))
        self.assertEqual(admission["lookAhead"], {"verdict": "undecided", "detail": "it takes too long"})
        self.assertEqual(admission["tokenizer"], {"answer": "undecided", "detail": "it takes too long"})


if __name__ == "__main__":
    unittest.main()
