// Runs the Python tests of the scorers' library.
import { join, resolve } from "node:path";
import { test } from "node:test";
import { runPythonTests } from "../../testing/python-tests.ts";

const file = (name: string) => join(import.meta.dirname, name);

test("the arithmetic of the scores agrees with numbers worked out by hand", () => {
  runPythonTests(file("test_measures.py"), 10);
});

test("the arithmetic, the data checks and the memory check of lm-eval scores agree with hand-made cases", () => {
  runPythonTests(file("test_lm_eval.py"), 10);
});

test("likelihoods of models in 16 bits are not rounded to 16 bits", () => {
  runPythonTests(file("test_rounding.py"));
});

test("a load is the submission's fault where it exceeds its limits and a known-good model does not", () => {
  runPythonTests(file("test_load_check.py"));
});

test("a tokenizer saved with dropout encodes a text in one way, and an RWKV loads without a program", () => {
  runPythonTests(file("test_load_submission.py"), 2);
});

test("tied weights are found under each of their names, and different ones are undecided", () => {
  runPythonTests(file("test_stored_weights.py"), 11);
});

test("a tokenizer that can make a text too long is refused, and honest tokenizers are not", () => {
  runPythonTests(file("test_tokenizer_growth.py"));
});

test("scorers of likelihoods reject tokenizers that rewrite what is scored, and keep honest ones", () => {
  runPythonTests(file("test_kept_text.py"));
});

test("steps that rewrite letters and scored texts are found in a tokenizer's files, and only counted", () => {
  runPythonTests(file("test_tokenizer_files.py"), 5);
});

test("a model that reads what it predicts is found, and an honest one is not", () => {
  runPythonTests(file("test_causality.py"));
});

test("encoder-decoders are read, tested for look-ahead and continued as lm-eval and transformers do it", () => {
  runPythonTests(file("test_encoder_decoders.py"));
});

test("answers are those of the model's own forward pass, from a cache that computes the same", () => {
  runPythonTests(file("test_written_answers.py"), 2);
});

test("rows that lm-eval pads, cuts and begins with a BOS are tested as it makes them", () => {
  runPythonTests(file("test_causality_rows.py"));
});

test("look-ahead is tried on the texts of public data by an agent's own check", () => {
  runPythonTests(file("test_check_model.py"));
});

test("comparing weights costs at most a bound, and large matrices are compared first", () => {
  runPythonTests(file("test_identity_work.py"));
});

test("values must be rounded to the nearest number, and rows of a related model must be distinct", () => {
  runPythonTests(file("test_identity_compare.py"), 16);
});

test("matrices of lower rank are found at any cosine, and training is none", () => {
  runPythonTests(file("test_identity_lower_rank.py"), 13);
});

test("rows, columns, experts and hidden units in another order are found, and an order of each row is not", () => {
  runPythonTests(file("test_identity_reorder.py"), 15);
});

test("a memory rule's peak is measured up to three times under a hard limit", () => {
  runPythonTests(file("test_memory_limit.py"));
});

test("models trained from scratch show no sign of each other, and copies of them are found", () => {
  runPythonTests(file("test_identity_rates.py"));
});

// uses a fake CUDA, since test machines may lack a GPU; also reads the tasks' programs
test("with a fake CUDA, models, ids, clocks and memory are on the GPU, and nothing falls back to the CPU", () => {
  runPythonTests(file("test_device.py"), 1, [resolve(import.meta.dirname, "../../../tasks")]);
});

test("private documents are compared with public ones of the same source, number and length", () => {
  runPythonTests(file("test_memorisation.py"), 6);
});

test("an unexpected end is the submission's fault where a known-good model passes, and else fails the stage", () => {
  runPythonTests(file("test_guarded.py"), 8);
});
