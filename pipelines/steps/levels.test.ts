// What a level of difficulty gives agents: less data, a text, and a folder of help.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pythonPath } from "@mlrb/kit/python-path";

const repository = join(import.meta.dirname, "../..");
const python = process.env.MLRB_PYTHON!;
const env = { ...process.env, PYTHONPATH: pythonPath(repository), MLRB_STAGE: "" };

function lessData(share: number | null, files: Record<string, string>, more = "") {
  const at = mkdtempDisposableSync(join(tmpdir(), "mlrb-less-"));
  for (const folder of ["public/sub", "private"]) mkdirSync(join(at.path, folder), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(at.path, name), text);
  if (more) execFileSync(python, ["-c", more], { cwd: at.path });
  const flags = ["public", "private"].flatMap((name) => [
    ...["--input", `${name}=${join(at.path, name)}`],
    ...["--output", `${name}=${join(at.path, "less", name)}`],
  ]);
  const args = [join(repository, "pipelines/steps/less_data.py"), "--param", `share=${share}`, ...flags];
  execFileSync(python, args, { cwd: repository, env });
  return {
    [Symbol.dispose]: () => at.remove(),
    path: at.path,
    read: (name: string) => readFileSync(join(at.path, "less", name), "utf8"),
  };
}

const rows = (count: number) =>
  Array.from({ length: count }, (_, at) => `${JSON.stringify({ text: `row ${at} ü` })}\n`).join("");

test("a share of the rows is left, less is part of more, and private data is whole", () => {
  const files = {
    "public/train.jsonl": rows(2000),
    "public/sub/README.md": "card",
    "private/held.jsonl": rows(500),
  };
  using tenth = lessData(0.1, files);
  using quarter = lessData(0.25, files);
  const [few, more] = [tenth, quarter].map((made) => made.read("public/train.jsonl").trim().split("\n"));
  assert.ok(few!.length > 150 && few!.length < 250, String(few!.length));
  assert.ok(more!.length > 430 && more!.length < 570, String(more!.length));
  assert.ok(few!.every((row) => more!.includes(row)));
  assert.equal(tenth.read("public/sub/README.md"), "card");
  assert.equal(tenth.read("private/held.jsonl"), files["private/held.jsonl"]);
});

test("without a share all data is whole", () => {
  const files = { "public/train.jsonl": rows(300) };
  using made = lessData(null, files);
  assert.equal(made.read("public/train.jsonl"), files["public/train.jsonl"]);
});

test("of a few long texts each loses its end, at the end of a line", () => {
  const book = Array.from({ length: 2000 }, (_, line) => `line ${line}`).join("\n");
  using made = lessData(0.25, { "public/train.jsonl": `${JSON.stringify({ name: "a", text: book })}\n` });
  const { name, text } = JSON.parse(made.read("public/train.jsonl")) as { name: string; text: string };
  assert.equal(name, "a");
  assert.ok(Math.abs(text.length / book.length - 0.25) < 0.01);
  assert.ok(book.startsWith(`${text}\n`));
});

test("Parquet keeps its columns, and its file is found by the same name", () => {
  const write =
    "import pyarrow as pa, pyarrow.parquet as pq; pq.write_table(pa.table({'text': [f'row {i}' for i in range(1000)], 'n': list(range(1000))}), 'public/sub/train.parquet')";
  using made = lessData(0.5, {}, write);
  const read = `import pyarrow.parquet as pq; t = pq.read_table('less/public/sub/train.parquet'); print(t.num_rows, t.column_names)`;
  const said = execFileSync(python, ["-c", read], { cwd: made.path, encoding: "utf8" });
  const [, count = "", names] = /^(\d+) (.*)\n$/.exec(said)!;
  assert.ok(Math.abs(Number(count) - 500) < 60, count);
  assert.equal(names, "['text', 'n']");
});

test("a level's text and its folder of help", () => {
  using at = mkdtempDisposableSync(join(tmpdir(), "mlrb-level-"));
  const made = (level: object) => {
    const [text, help] = [join(at.path, "level.md"), join(at.path, JSON.stringify(level).length.toString())];
    const flags = [
      "--param",
      `level=${JSON.stringify(level)}`,
      "--output",
      `text=${text}`,
      "--output",
      `help=${help}`,
    ];
    execFileSync(process.execPath, [join(import.meta.dirname, "level.ts"), ...flags], {
      cwd: repository,
      env,
    });
    return {
      text: readFileSync(text, "utf8"),
      help: readdirSync(help, { recursive: true }).map(String).sort(),
    };
  };
  assert.deepEqual(made({ says: "Half.", help: null }), { text: "Half.\n", help: [] });
  const { help } = made({ says: "Code.", help: "tasks/starter-code" });
  assert.deepEqual(help, ["help", "help/README.md", "help/train.py"]);
});
