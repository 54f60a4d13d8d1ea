// A program that is killed while it removes an attempt's folder leaves none that looks like a lost attempt.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { clearUnfinished } from "../run/clear-unfinished.ts";

test("an attempt that is kept disappears as a whole, whenever the program that removes it is killed", async (t) => {
  const state = mkdtempSync(join(tmpdir(), "mlrb-remove-"));
  t.after(() => rmSync(state, { recursive: true, force: true }));
  const attempts = join(state, "attempts");
  const path = join(attempts, "running/one");
  for (const part of ["a", "b", "c", "d", "e"]) {
    mkdirSync(join(path, "out", part), { recursive: true });
    for (let index = 0; index < 60; index++) writeFileSync(join(path, "out", part, String(index)), "x");
  }
  writeFileSync(join(path, "attempt.json"), "{}");
  writeFileSync(join(path, "end.json"), "{}");
  for (const folder of [join(attempts, "records"), join(state, "leases")]) mkdirSync(folder);
  const program = `import { removeAttempt } from ${JSON.stringify(import.meta.resolve("./remove-attempt.ts"))};
    import { processName } from ${JSON.stringify(import.meta.resolve("@mlrb/kit/processes/process-name"))};
    console.log(processName);
    await removeAttempt(${JSON.stringify(path)});`;
  const touched = watch(attempts, { recursive: true });
  t.after(() => touched.close());
  const first = once(touched, "change");
  const child = spawn(process.execPath, ["--input-type=module", "-e", program]);
  const [name] = await once(child.stdout, "data");
  await first; // a watcher that spins would take the processor from the watched program
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");

  assert.equal(existsSync(path), false, "what is left of it looks like an attempt");
  if (readdirSync(join(attempts, "records")).length === 0) t.diagnostic("it was killed too late to tell");
  clearUnfinished(state, String(name).trim());
  assert.deepEqual(readdirSync(join(attempts, "records")), []);
});
