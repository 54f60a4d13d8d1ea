import assert from "node:assert/strict";
import { test } from "node:test";
import { keyCleaner, shapeOf, textCleaner } from "./clean-text.ts";

const clean = textCleaner({
  variables: {
    ACME: "acme-value-1",
    MY_API_KEY: "my+key/value",
    DEPLOY_PEM_KEY: "-----BEGIN KEY-----\nMIIEvQIBADANBgkqh\nshort\n-----END KEY-----",
    HOME: "/home/ann",
    EDITOR: "editor-name",
  },
  secrets: ["ACME"],
  folders: [
    ["/home/ann", "HOME"],
    ["/home/ann/work/.mlrb", "STATE"],
  ],
  host: "gpu-server-7",
  user: "ann",
});

test("values of secret variables go in every usual encoding, and other variables stay", () => {
  const forms = ["acme-value-1", "my+key/value", encodeURIComponent("my+key/value")];
  forms.push(Buffer.from("user:my+key/value").toString("base64"));
  for (const form of forms) {
    const text = clean(`at ${form} end`);
    assert.ok(!text.includes(form), text);
    assert.match(text, /redacted/);
  }
  assert.equal(clean("editor-name"), "editor-name");
});

test("keys in a known form go although no variable has them", () => {
  for (const key of [
    "sk-proj-abcdefghijklmnop",
    "hf_abcdefghijklmnopqrst",
    "ghp_abcdefghijklmnopqrst",
    "AIzaSyabcdefghijklmnopqrstuvw",
    "AKIAABCDEFGHIJKLMNOP",
    "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
  ])
    assert.ok(!clean(`key=${key};`).includes(key), key);
  assert.equal(clean("Authorization: Bearer abcdefgh12345"), "Authorization: Bearer [redacted]");
  assert.equal(clean("https://ann:secret@host/x"), "https://[redacted]@host/x");
});

test("folders, the innermost first, and the host get other names, and a word with the host's name in it stays", () => {
  assert.equal(
    clean("/home/ann/work/.mlrb/logs and /home/ann/x on gpu-server-7"),
    "STATE/logs and HOME/x on HOST",
  );
  assert.equal(clean("gpu-server-70"), "gpu-server-70");
});

test("each long line of a secret goes, and a short one stays", () => {
  assert.equal(clean("line MIIEvQIBADANBgkqh end"), "line [redacted DEPLOY_PEM_KEY line 2] end");
  assert.equal(clean("a short word"), "a short word");
});

test("a folder goes only as a whole path, and where a program puts letters before it", () => {
  for (const [text, shown] of [
    ["/lustre/home/ann/x", "/lustre/home/USER/x"],
    ["/home/anna/x", "/home/anna/x"],
    ["/home/ann.bak", "/home/USER.bak"],
    ["-I/home/ann/include", "-IHOME/include"],
    [JSON.stringify("\n/home/ann/x \u001b[31m/home/ann"), '"\\nHOME/x \\u001b[31mHOME"'],
    ["file:///home/ann.", "file://HOME."],
  ] as const)
    assert.equal(clean(text), shown);
});

test("the user's name goes as a word, and the host with its domain", () => {
  assert.equal(
    clean("ann@gpu-server-7.cs.acme-lab.example: /scratch/ann/hf, Annotated by hannah."),
    "USER@HOST: /scratch/USER/hf, Annotated by hannah.",
  );
});

test("of a log that may quote rows only stack frames and names of errors are shown", () => {
  const log = [
    "loading 991 items",
    "Traceback (most recent call last):",
    '  File "scorers/x/measure.py", line 12, in main',
    "    raise ValueError(row)",
    "ValueError: What is the capital of France? Paris",
    "mlrb_kit.errors.BadItem: Paris",
    "torch.OutOfMemoryError: CUDA out of memory",
    "    at run (/repo/tasks/x/data.ts:3:7)",
    '  File "What is the capital of France", line 1, in Paris and more',
  ].join("\n");
  assert.equal(
    shapeOf(log),
    '  File "scorers/x/measure.py", line 12, in main\nValueError: [left out]\ntorch.OutOfMemoryError: [left out]\n    at run (/repo/tasks/x/data.ts:3:7)\n',
  );
});

test("a cleaner of keys alone keeps names of the machine and words after basic, and takes every key", () => {
  const keys = keyCleaner({ variables: { ACME: "acme-value-1", USER: "ann" }, secrets: ["ACME"] });
  for (const text of ["a basic tokenizer", "Bearer authentication works", "/home/ann on gpu-server-7"])
    assert.equal(keys(text), text);
  assert.equal(keys("acme-value-1"), "[redacted ACME]");
  assert.equal(keys("Authorization: Bearer abcdefgh12345678"), "Authorization: Bearer [redacted]");
  assert.ok(!keys("hf_abcdefghijklmnopqrst https://ann:secret@host/x").match(/hf_|secret/));
});
