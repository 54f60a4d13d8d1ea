import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

test("a second Ctrl-C does not end the suite before its test files", async () => {
  const program = `
    import { abortOnSignals } from ${JSON.stringify(import.meta.resolve("./abort-on-signals.ts"))};
    const end = new AbortController();
    abortOnSignals(end);
    end.signal.addEventListener("abort", () => console.log(end.signal.reason));
    process.stdin.on("data", () => process.exit(7));
    console.log("ready");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program]);
  let said = "";
  const saying = async (words: string) => {
    while (!said.includes(words)) said += (await once(child.stdout, "data"))[0];
  };
  await saying("ready");
  child.kill("SIGINT");
  await saying("the suite got SIGINT");
  child.kill("SIGINT");
  child.kill("SIGTERM");
  child.stdin.write("end\n");
  assert.deepEqual(await once(child, "exit"), [7, null]);
});
