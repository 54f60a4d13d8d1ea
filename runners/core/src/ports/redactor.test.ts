import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formsOf, Redactor, textRedactor } from "./redactor.ts";

/** What becomes of `text` when it comes in chunks of `size` bytes. */
function redacted(text: string, secrets: Record<string, string>, size = 1 << 20): string {
  const redactor = new Redactor(secrets);
  const bytes = Buffer.from(text);
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) out.push(redactor.push(bytes.subarray(at, at + size)));
  return Buffer.concat([...out, redactor.end()]).toString();
}

const key = `sk-"é/+ 77\\z`;
const secrets = { API_KEY: key, OTHER: "hunter2-hunter2" };

test("a secret is replaced by its name everywhere, and nothing else changes", () => {
  assert.equal(
    redacted(`a ${key}${key} b hunter2-hunter2\nhunter2-hunter\n`, secrets),
    "a [redacted API_KEY][redacted API_KEY] b [redacted OTHER]\nhunter2-hunter\n",
  );
  assert.equal(redacted("", secrets), "");
  assert.equal(redacted("plain\n", {}), "plain\n");
});

test("encoded secrets are found: JSON, URL, base64", () => {
  const forms: Record<string, string> = {
    json: JSON.stringify({ key }),
    "ASCII JSON": `{"key":"sk-\\"\\u00e9/+ 77\\\\z"}`,
    query: new URLSearchParams({ key }).toString(),
    component: `https://example.org/?key=${encodeURIComponent(key)}`,
    "lower case": `?key=${encodeURIComponent(key).toLowerCase()}`,
    "path that keeps slashes": `/${encodeURIComponent(key).replaceAll("%2F", "/")}/x`,
    base64: `Bearer ${Buffer.from(key).toString("base64")} end`,
    base64url: `Bearer ${Buffer.from(key).toString("base64url")} end`,
  };
  for (const [name, text] of Object.entries(forms)) {
    const said = redacted(text, secrets);
    assert.match(said, /\[redacted API_KEY\]/, `${name}: ${said}`);
    for (const form of formsOf(key)) assert.ok(!said.includes(form), `${name}: ${said}`);
  }
});

test("inside longer base64 at any offset, at most the edges of a secret remain", () => {
  for (const user of ["", "u", "us", "use", "user"]) {
    const whole = Buffer.from(`${user}:${secrets.OTHER}:more`).toString("base64");
    const said = redacted(`Basic ${whole}\n`, secrets);
    assert.match(said, /\[redacted OTHER\]/, user);
    const left = Buffer.from(said.replace(/Basic |\[redacted OTHER\]/g, " ").replace(/\s/g, ""), "base64");
    assert.ok(!left.toString().includes("hunter2"), said);
  }
});

test("what is too short to be a secret is left alone, and so is a name without a value", () => {
  assert.equal(redacted("one 12345 two", { A: "12345", B: "", C: "   1234   " }), "one 12345 two");
  assert.equal(redacted("one 123456 two", { A: "123456" }), "one [redacted A] two");
});

test("a value that ends in a line break is found without it, and one of several lines as a whole", () => {
  assert.equal(redacted("key=abcdefgh.", { A: "abcdefgh\n" }), "key=[redacted A].");
  assert.equal(redacted("x\nline one\nline two\ny", { A: "line one\nline two\n" }), "x\n[redacted A]\ny");
  assert.equal(redacted('"line one\\nline two"', { A: "line one\nline two\n" }), '"[redacted A]"');
});

test("of secrets that overlap nothing stays, and of one within another only the longer is named", () => {
  assert.equal(redacted("<abcdefgh>", { A: "abcdef", B: "cdefgh" }), "<[redacted A]>");
  assert.equal(redacted("<abcdefgh>", { A: "abcdef", B: "abcdefgh" }), "<[redacted B]>");
  assert.equal(redacted(`<${"a".repeat(100)}>`, { A: "aaaaaa" }, 7), "<[redacted A]>");
});

test("chunks may end anywhere, within a secret and within a character: the same comes out", () => {
  const text = `ä${key}é hunter2-hunter2hunter2-hunter${JSON.stringify(key)} hunter2-hunter2`;
  const whole = redacted(text, secrets);
  for (let size = 1; size <= Buffer.from(text).length; size++)
    assert.equal(redacted(text, secrets, size), whole, `chunks of ${size} bytes`);
});

test("for any text and secrets no secret remains and the rest is unchanged", () => {
  const word = fc.stringMatching(/^[a-c]{6,9}$/);
  // what is between is of other letters, so that only what was put there can be found
  const between = fc.stringMatching(/^[x-z\n]{0,12}$/);
  fc.assert(
    fc.property(word, word, fc.array(between), fc.integer({ min: 1, max: 9 }), (one, two, parts, size) => {
      const given = { ONE: one, TWO: two };
      const text = parts.map((part, index) => part + (index % 2 === 0 ? one : two)).join("|");
      const said = redacted(text, given, size);
      assert.ok(!said.includes(one) && !said.includes(two), said);
      assert.equal(said.replace(/\[redacted (ONE|TWO)\]/g, "#"), parts.map((part) => `${part}#`).join("|"));
    }),
  );
});

test("a complete text loses every form of a secret and nothing else", () => {
  const redact = textRedactor({ KEY: key, SHORT: "dev" });
  for (const form of formsOf(key)) assert.equal(redact(`a ${form} b dev`), "a [redacted KEY] b dev");
  assert.equal(redact("nothing here"), "nothing here");
});

test("only what may begin a secret is held back: a stream passes as it comes", () => {
  const redactor = new Redactor({ KEY: "hunter2-hunter2" });
  assert.equal(String(redactor.push(Buffer.from("data: 1\n\n"))), "data: 1\n\n");
  assert.equal(String(redactor.push(Buffer.from("data: hunter2"))), "data: ");
  assert.equal(String(redactor.push(Buffer.from("-hunter3\n\n"))), "hunter2-hunter3\n\n");
});
