import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { packageClosure, parseLock } from "./package-lock.ts";

const repository = join(dirname(fileURLToPath(import.meta.url)), "../../../..");
const text = readFileSync(join(repository, "pnpm-lock.yaml"), "utf8");
const lock = parseLock(text);

test("reading the lock file line by line returns the same as parsing its YAML", () => {
  const whole = parse(text) as {
    packages: Record<string, { resolution: { integrity: string } }>;
    snapshots: Record<string, Record<string, Record<string, string>> | null>;
  };
  const integrity = Object.entries(whole.packages).map(([id, { resolution }]) => [id, resolution.integrity]);
  assert.deepEqual([...lock.integrity], integrity);
  const needs = Object.entries(whole.snapshots).map(([id, snapshot]) => [
    id,
    ["dependencies", "optionalDependencies"].flatMap((kind) =>
      Object.entries(snapshot?.[kind] ?? {}).map(([name, version]) => `${name}@${version}`),
    ),
  ]);
  assert.deepEqual(
    [...lock.needs].map(([id, ids]) => [id, [...ids].sort()]),
    needs.map(([id, ids]) => [id, [...(ids as string[])].sort()]),
  );
});

test("a package's closure holds its dependencies with integrity, and changes with a version below it", () => {
  const closure = packageClosure(lock, ["execa"]);
  assert.ok(closure.length > 3);
  for (const line of closure) assert.match(line, /^\S+@\S+ sha512-/);
  const deep = closure.find((line) => !line.startsWith("execa@"))!.split(" ")[0]!;
  const changed = parseLock(
    text
      .replaceAll(deep, `${deep}-other`)
      .replaceAll(`: ${deep.split("@").at(-1)}\n`, `: ${deep.split("@").at(-1)}-other\n`),
  );
  assert.notDeepEqual(packageClosure(changed, ["execa"]), closure);
});

test("an unlisted package and a lock file of another format are errors", () => {
  assert.throws(() => packageClosure(lock, ["left-pad"]), /left-pad is imported/);
  assert.throws(() => parseLock("lockfileVersion: '6.0'\n"), /not of format 9/);
});
