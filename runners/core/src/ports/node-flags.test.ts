import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { nodeFlags } from "./node-flags.ts";

const shipped = (name: string) => readFileSync(new URL(`../../../../${name}`, import.meta.url), "utf8");

test("the runner and the suite start with the flags on their command line", () => {
  const { scripts } = JSON.parse(shipped("package.json")) as { scripts: Record<string, string> };
  const [runner] = /^exec .*pipeline\.js/ms.exec(shipped("mlrb"))!;
  for (const started of [runner, scripts.test!])
    for (const flag of nodeFlags) assert.ok(started.split(/\s+/).includes(flag), `${flag} in ${started}`);
});
