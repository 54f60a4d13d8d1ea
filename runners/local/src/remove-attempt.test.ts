// A program that is killed while it removes an attempt's folder leaves none that looks like a lost attempt.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { clearUnfinished } from "./clear-unfinished.ts";

test("an attempt that is kept is gone as a whole, at whatever moment the program that removes it is killed", async (t) => {
  const state = mkdtempSync(join(tmpdir(), "mlrb-remove-"));
  t.after(() => rmSync(state, { recursive: true, force: true }));
  const attempts = join(state, "attempts");
  const path = join(attempts, "running/one");
  const parts = Array.from({ length: 10 }, (_, index) => join(path, "out", String(index)));
  for (const part of parts) {
    mkdirSync(part, { recursive: true });
    for (let index = 0; index < 100; index++) writeFileSync(join(part, String(index)), "x");
  }
  writeFileSync(join(path, "attempt.json"), "{}");
  writeFileSync(join(path, "end.json"), "{}");
  for (const folder of [join(attempts, "records"), join(state, "leases")]) mkdirSync(folder);
  const program = `import { removeAttempt } from ${JSON.stringify(import.meta.resolve("./remove-attempt.ts"))};
    import { processName } from ${JSON.stringify(import.meta.resolve("@mlrb/kit/process-name"))};
    console.log(processName);
    await removeAttempt(${JSON.stringify(path)});`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program]);
  const [name] = await once(child.stdout, "data");
  const whole = () => existsSync(join(path, "end.json")) && parts.every((part) => existsSync(part));
  while (whole() && child.exitCode === null) await new Promise(setImmediate);
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");

  assert.equal(existsSync(path), false, "what is left of it looks like an attempt");
  if (readdirSync(join(attempts, "records")).length === 0) t.diagnostic("it was killed too late to tell");
  clearUnfinished(state, String(name).trim());
  assert.deepEqual(readdirSync(join(attempts, "records")), []);
});
