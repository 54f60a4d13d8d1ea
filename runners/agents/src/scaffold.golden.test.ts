// Everything that an agent meets, word by word. A difference is a new scaffold: raise its number in
// scaffold-versions.ts and in the presets, then UPDATE_GOLDEN=1 writes the new transcript.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { scaffoldVersions } from "@mlrb/formats/declared/scaffold-versions";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { checkScaffold } from "./attempt/check-scaffold.ts";
import { runAttempt } from "./attempt/run-attempt.ts";
import { plainSandbox } from "./sandbox/plain-sandbox.ts";

/** Prints all that it meets, then waits for its end. */
const curious = `
echo "== arguments"; for one in "$0" "$@"; do echo "$one"; done
echo "== variables"; env | sort | grep -v '^_='
echo "== folders"; echo "$PWD"; cd ..; find . -path ./tmp -prune -o -print | sort | while read -r path; do stat -c '%A %n' "$path"; done; cd workspace
echo "== files"; for file in TASK.md iterations.jsonl data/deep/train.txt; do echo "-- $file"; cat "$file"; done
echo "== standing"; umask; ulimit -c; [ -t 0 ] && echo terminal || echo "input: $(cat | wc -c) bytes"
echo "== writing"; for path in submission/x iterations.jsonl "$HOME/x" "$TMPDIR/x"; do
  if ( echo x >> "$path" ) 2>/dev/null; then echo "can $path"; else echo "cannot $path"; fi; done
trap 'echo "== asked to end" >> submission/signals' TERM
echo ready > submission/ready
while :; do sleep 0.1; done
`;

async function transcript(t: TestContext, kind: "command" | "nop"): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "scaffold-"));
  t.after(() => removeFolder(folder));
  const at = (name: string) => join(folder, name);
  for (const name of ["data/deep", "program", "scratch", "submission"])
    mkdirSync(at(name), { recursive: true });
  writeFileSync(at("data/deep/train.txt"), "public\n");
  writeFileSync(at("program/agent.sh"), curious);
  const sandbox = await plainSandbox(at("work"));
  const outputs = {
    submission: at("submission"),
    trajectory: at("trajectory.jsonl"),
    ledger: at("ledger.json"),
    snapshots: at("snapshots"),
  };
  const ledger = await runAttempt(sandbox, {
    task: "some-task",
    agent: "curious",
    seed: 7,
    kind,
    command: ["sh", "./agent.sh", "{program}/agent.sh", "{python}"],
    program: at("program"),
    prompt: "Hand in until {{deadline}}. You have {{budget}}. Seed {{seed}}.\n",
    publicData: at("data"),
    budget: { timeMs: 3_000 },
    outputs,
    scratch: at("scratch"),
    limits: { bytesMax: 1 << 20, filesMax: 100 },
    pollMs: 50,
  });
  const home = sandbox.seenAs("workspace").replace(/\/workspace$/, "");
  await sandbox.close();
  const events = readFileSync(outputs.trajectory, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { event: string; text?: string });
  const said = events.flatMap(({ event, text }) => (event === "output" ? [text] : [])).join("");
  const kinds = [...new Set(events.map(({ event }) => event))].sort();
  const signals = existsSync(join(outputs.submission, "signals"))
    ? readFileSync(join(outputs.submission, "signals"), "utf8")
    : "";
  return `${said}${signals}== it ended: ${ledger.ended}\n== events: ${kinds.join(" ")}\n`
    .replaceAll(home, "SANDBOX")
    .replace(/MLRB_TOKEN=.*/, "MLRB_TOKEN=…")
    .replace(/MLRB_DEADLINE=\d{10}/, "MLRB_DEADLINE=(epoch seconds)")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, "(ISO time, UTC)")
    .replaceAll(process.env.PATH ?? "", "(PATH)");
}

for (const kind of ["command", "nop"] as const) {
  const version = scaffoldVersions[kind];
  test(`scaffold ${version} of ${kind} agents still behaves as recorded`, {
    skip: process.platform === "linux" ? false : "the transcript is Linux's",
  }, async (t) => {
    const golden = join(import.meta.dirname, "golden", `scaffold-${kind}-${version}.txt`);
    const now = await transcript(t, kind);
    if (process.env.UPDATE_GOLDEN) {
      mkdirSync(join(golden, ".."), { recursive: true });
      writeFileSync(golden, now);
    }
    assert.ok(existsSync(golden), "UPDATE_GOLDEN=1 writes the transcript of a new version");
    assert.equal(
      now,
      readFileSync(golden, "utf8"),
      `agents meet something else: raise scaffoldVersions.${kind} and scaffoldVersion in the presets, then UPDATE_GOLDEN=1`,
    );
  });
}

test("a preset for another scaffold version is refused with the version to write", () => {
  checkScaffold("command", undefined);
  checkScaffold("nop", scaffoldVersions.nop);
  assert.throws(
    () => checkScaffold("command", 99),
    /for version 99 of .* write scaffoldVersion: 1 in the preset/,
  );
});
