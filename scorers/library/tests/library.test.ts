// Runs the Python tests of the scorers' library.
import { join, resolve } from "node:path";
import { test } from "node:test";
import { runPythonTests } from "../../testing/python-tests.ts";

const file = (name: string) => join(import.meta.dirname, name);

test("the arithmetic of the scores agrees with numbers worked out by hand", () => {
  runPythonTests(file("test_measures.py"), /Ran \d\d tests/);
});

test("the arithmetic, the data checks and the memory check of lm-eval scores agree with hand-made cases", () => {
  runPythonTests(file("test_lm_eval.py"), /Ran \d\d tests/);
});

test("a load is the submission's fault where it exceeds its limits and a known-good model does not", () => {
  runPythonTests(file("test_load_check.py"), /Ran \d+ tests/);
});

test("a tokenizer saved with dropout encodes a text in one way, and an RWKV loads without a program", () => {
  runPythonTests(file("test_load_submission.py"), /Ran 2 tests/);
});

test("a tokenizer that can make a text too long is refused, and honest tokenizers are not", () => {
  runPythonTests(file("test_tokenizer_growth.py"), /Ran \d+ tests/);
});

test("a model that reads what it predicts is found, and an honest one is not", () => {
  runPythonTests(file("test_causality.py"), /Ran \d+ tests/);
});

test("encoder-decoders are read, tested for look-ahead and continued as lm-eval and transformers do it", () => {
  runPythonTests(file("test_encoder_decoders.py"), /Ran \d+ tests/);
});

test("answers are those of the model's own forward pass, from a cache that computes the same", () => {
  runPythonTests(file("test_written_answers.py"), /Ran 2 tests/);
});

test("rows that lm-eval pads, cuts and begins with a BOS are tested as it makes them", () => {
  runPythonTests(file("test_causality_rows.py"), /Ran \d+ tests/);
});

test("look-ahead is tried on the texts of public data by an agent's own check", () => {
  runPythonTests(file("test_check_model.py"), /Ran \d+ tests/);
});

test("comparing weights costs at most a bound, and large matrices are compared first", () => {
  runPythonTests(file("test_identity_work.py"), /Ran \d+ tests/);
});

test("values must be rounded to the nearest number, and rows of a related model must be distinct", () => {
  runPythonTests(file("test_identity_compare.py"), /Ran 16 tests/);
});

test("matrices of lower rank are found at any cosine, and training is none", () => {
  runPythonTests(file("test_identity_lower_rank.py"), /Ran 13 tests/);
});

test("rows, columns, experts and hidden units in another order are found, and an order of each row is not", () => {
  runPythonTests(file("test_identity_reorder.py"), /Ran 15 tests/);
});

test("a memory rule's peak is measured up to three times under a hard limit", () => {
  runPythonTests(file("test_memory_limit.py"), /Ran \d+ tests/);
});

test("models trained from scratch show no sign of each other, and copies of them are found", () => {
  runPythonTests(file("test_identity_rates.py"), /Ran 1 test/);
});

// uses a fake CUDA, since test machines may lack a GPU; also reads the tasks' programs
test("with a fake CUDA, models, ids, clocks and memory are on the GPU, and nothing falls back to the CPU", () => {
  runPythonTests(file("test_device.py"), /Ran \d+ tests/, [resolve(import.meta.dirname, "../../../tasks")]);
});

test("private documents are compared with public ones of the same source, number and length", () => {
  runPythonTests(file("test_memorisation.py"), /Ran 6 tests/);
});

test("a submitted program reads its images and nothing else, and its output is not trusted", () => {
  runPythonTests(file("test_programs.py"), /Ran 19 tests/);
});

test("an unexpected end is the submission's fault where a known-good model passes, and else fails the stage", () => {
  runPythonTests(file("test_guarded.py"), /Ran 8 tests/);
});
