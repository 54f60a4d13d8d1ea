import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { writeRows } from "./smoke-stage.ts";

const folder = mkdtempSync(join(tmpdir(), "mlrb-dev-data-"));
after(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, "public/owner/set"), { recursive: true });
const rows = (name: string, all: unknown[]) => writeRows(join(folder, "public"), name, all);
rows("dev.jsonl", [
  { subject: "stars", question: "a" },
  { subject: "food", question: "b" },
]);
rows("bad.jsonl", [{ subject: "../../escaped" }]);
rows(
  "owner/set/dev-00000.jsonl",
  [1, 2, 3, 4].map((at) => ({ content: `text ${at}` })),
);
writeFileSync(
  join(folder, "public/owner/set/README.md"),
  "---\nconfigs:\n- config_name: default\n  data_files: [{ split: dev, path: dev-*.jsonl }]\n---\n",
);
mkdirSync(join(folder, "private/math"), { recursive: true });
for (const name of ["settings.json", "test.jsonl"]) writeFileSync(join(folder, "private/math", name), "{}\n");

function made(dev: object) {
  const to = mkdtempSync(join(folder, "made-"));
  const ran = spawnSync(
    process.execPath,
    [
      join(import.meta.dirname, "dev-data.ts"),
      ...["--param", `dev=${JSON.stringify(dev)}`, "--output", `private=${to}`],
      ...["--input", `public=${join(folder, "public")}`, "--input", `private=${join(folder, "private")}`],
    ],
    { encoding: "utf8" },
  );
  const files = readdirSync(to, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return {
    ...ran,
    files: Object.fromEntries(
      files.map(({ parentPath, name }) => [
        join(parentPath, name).slice(to.length + 1),
        readFileSync(join(parentPath, name), "utf8"),
      ]),
    ),
  };
}

test("rows go where the scorer reads them, by their fields, and no test row comes along", () => {
  const { files, stderr } = made({
    rows: "dev.jsonl",
    as: "mmlu/{subject}/test.jsonl",
    keep: ["math/settings.json"],
  });
  assert.deepEqual(
    files,
    {
      "math/settings.json": "{}\n",
      "mmlu/food/test.jsonl": '{"question":"b","subject":"food"}\n',
      "mmlu/stars/test.jsonl": '{"question":"a","subject":"stars"}\n',
    },
    stderr,
  );
});

test("of a split of a data set of the hub the documents, evenly spaced", () => {
  const { files } = made({ rows: "owner/set", split: "dev", text: "content", as: "heldout.jsonl", most: 2 });
  assert.deepEqual(files, {
    "heldout.jsonl":
      '{"group":"dev","id":"dev-0","text":"text 1"}\n{"group":"dev","id":"dev-1","text":"text 3"}\n',
  });
});

test("a split that is missing and a field that leaves the folder are refused", () => {
  assert.match(
    made({ rows: "owner/set", split: "test", as: "a.jsonl" }).stderr,
    /owner\/set has no split test/,
  );
  const escaped = made({ rows: "bad.jsonl", as: "{subject}/a.jsonl" });
  assert.match(escaped.stderr, /cannot name a folder/);
  assert.deepEqual(escaped.files, {});
});
