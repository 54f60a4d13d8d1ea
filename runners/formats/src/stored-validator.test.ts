import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { storedValidator } from "./stored-validator.ts";

const work = mkdtempSync(join(tmpdir(), "mlrb-validators-"));
after(() => rmSync(work, { recursive: true }));

let folders = 0;
const inNewFolder = () => join(work, String(folders++));
const short = { type: "object", properties: { a: { type: "string", format: "even", maxLength: 4 } } };
const formats = { even: (text: string) => text.length % 2 === 0 };
const options = { allErrors: true, verbose: true };
const validator = (folder: string, schema: object = short) =>
  storedValidator(schema, { options, formats, folder });
const wrong = { a: "fives" };
const causes = (folder: string, schema?: object) => {
  const validate = validator(folder, schema);
  return [validate({ a: "even" }), validate(wrong), validate.errors?.map(({ keyword }) => keyword).sort()];
};
const expected = [true, false, ["format", "maxLength"]];

test("a validator is stored once, and the stored one gives the same errors", () => {
  const folder = inNewFolder();
  assert.deepEqual(causes(folder), expected);
  const files = readdirSync(folder);
  assert.deepEqual(causes(folder), expected);
  assert.equal(files.length, 1);
  assert.deepEqual(readdirSync(folder), files);
  assert.deepEqual(validator(folder)(wrong), false);
});

test("stored code is used: a process with it does not compile", () => {
  const folder = inNewFolder();
  validator(folder);
  const [name] = readdirSync(folder);
  const other = inNewFolder();
  validator(other, { ...short, title: "another" });
  const stored = join(folder, name!);
  const code = readFileSync(stored, "utf8");
  writeFileSync(stored, code.replaceAll("maxLength", "changed"));
  delete process.getBuiltinModule("node:module").createRequire(stored).cache[stored];
  assert.deepEqual(causes(folder), [true, false, ["changed", "format"]]);
});

test("another schema has other code", () => {
  const folder = inNewFolder();
  validator(folder);
  const strict = { ...short, required: ["b"] };
  assert.deepEqual(causes(folder, strict)[0], false);
  assert.equal(readdirSync(folder).length, 2);
});

for (const [what, damage] of Object.entries({
  torn: (path: string) => truncateSync(path, 900),
  empty: (path: string) => truncateSync(path, 0),
  "other code": (path: string) => writeFileSync(path, "module.exports = () => 5;"),
}))
  test(`a stored validator that is ${what} is compiled again`, () => {
    const folder = inNewFolder();
    validator(folder);
    const path = join(folder, readdirSync(folder)[0]!);
    damage(path);
    delete process.getBuiltinModule("node:module").createRequire(path).cache[path];
    assert.deepEqual(causes(folder), expected);
  });

test("without a folder to write in, the schema is compiled", () => {
  const file = join(work, "a-file");
  writeFileSync(file, "");
  assert.deepEqual(causes(join(file, "below")), expected);
});

test("the script of a stage, which may not write there, compiles without a refused access", () => {
  const folder = inNewFolder();
  const script = `
    import { subscribe } from "node:diagnostics_channel";
    const refused = [];
    subscribe("node:permission-model:fs", ({ permission, resource }) => refused.push(permission, resource));
    const { storedValidator } = await import(${JSON.stringify(join(import.meta.dirname, "stored-validator.ts"))});
    const validate = storedValidator({ type: "string" }, { options: {}, formats: {}, folder: ${JSON.stringify(folder)} });
    console.log(JSON.stringify([process.permission !== undefined, validate("a"), validate(5), refused]));`;
  const flags = ["--permission", "--allow-fs-read=*", "--input-type=module", "--eval", script];
  const said = execFileSync(process.execPath, flags, { encoding: "utf8" });
  assert.deepEqual(JSON.parse(said), [true, true, false, []]);
  assert.equal(existsSync(folder), false);
});
