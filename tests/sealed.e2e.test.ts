// An attempt in the sealed condition, from the pipeline's file to the record: its programs download through the
// gateway, the private data of its task is withheld, and its key differs from an attempt without a network.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import { attemptStage } from "./support/attempts/attempt-stages.ts";
import { recordsIn } from "./support/end-state.ts";
import { type Lab, lab, outcomes } from "./support/lab.ts";
import { LoopbackHub } from "./support/servers/loopback-hub.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const hub = await new LoopbackHub().start();
after(() => {
  hub.close();
  repository.remove();
});
const missing = await bubblewrapMissing();
const walls = missing === undefined ? {} : { skip: missing };

const secret = "How many of the seven invented rivers of Lund run to the north";
hub.commit("model", "lab/small", { "config.json": "{}" });
hub.commit("dataset", "lab/leak", { "data.json": JSON.stringify([{ text: secret }]) });
hub.commit("dataset", "cais/mmlu", { "x/validation-0.jsonl": "{}\n", "x/test-0.jsonl": "{}\n" });

const script = `
for path in lab/small/resolve/main/config.json datasets/lab/leak/resolve/main/data.json \\
    datasets/cais/mmlu/resolve/main/x/validation-0.jsonl datasets/cais/mmlu/resolve/main/x/test-0.jsonl; do
  python3 - "$path" >> "$MLRB_SUBMISSION/seen" <<'END'
import os, sys, urllib.error, urllib.request
try:
    print(urllib.request.urlopen(os.environ.get("HF_ENDPOINT", "http://127.0.0.1:9") + "/" + sys.argv[1]).status)
except urllib.error.HTTPError as error:
    print(error.code)
except OSError:
    print("no network")
END
done
grep -c 'download through a gateway' TASK.md >> "$MLRB_SUBMISSION/seen"
`;

function define(at: Lab): void {
  at.script("program/agent.sh", script);
  at.script("prompt.md", "Until {{deadline}}.\n");
  const [program, prompt] = [`${at.name}/program`, `${at.name}/prompt.md`];
  const rows = JSON.stringify({ question: secret });
  at.define({
    axes: { task: ["empty"], agent: ["tries"], seed: [1] },
    profiles: {
      closed: { default: true, network: "none" },
      sealed: { network: "none", stages: { attempt: { network: "hub" } } },
      open: { network: "none", stages: { attempt: { network: "full" } } },
    },
    stages: {
      data: {
        each: ["task"],
        command: `echo x > {outputs.public}/a; echo '${rows}' > {outputs.private}/test.jsonl`,
        gives: { public: "dir", private: { dir: true, private: true } },
      },
      withheld: {
        withholds: true,
        each: ["task"],
        script: "pipelines/steps/withheld.ts",
        needs: ["data.private", "data.public"],
        params: { downloads: ["mmlu"] },
        files: ["sources/*.yaml", "sources.lock.yaml"],
        gives: { withheld: { file: "withheld.json" } },
        releases: ["withheld"],
      },
      attempt: attemptStage({
        collect: ["withheld.withheld"],
        params: { kind: "command", command: ["sh", "./agent.sh"], program, trusted: false, prompt },
        files: [`${program}/**`, prompt],
      }),
    },
  });
}

test(
  "a sealed attempt gets what is served and a record of it, and is another attempt than one without a network",
  walls,
  async (t) => {
    const at = lab(t, repository);
    define(at);
    const run = (profile: string) =>
      at.pipeline(["run", at.name, "--json", "--root", at.root, "--weak-limits", "--profile", profile], {
        env: { HF_ENDPOINT: hub.endpoint },
      });
    const closed = await run("closed");
    assert.equal(closed.code, 0, closed.stdout + closed.stderr);
    assert.deepEqual(Object.keys(outcomes(closed)).sort(), [
      "attempt[task=empty,agent=tries,seed=1]",
      "data[task=empty]",
    ]);
    const open = await at.plan("--profile", "open");
    assert.equal(outcomes(open)["attempt[task=empty,agent=tries,seed=1]"], "run", open.stdout + open.stderr);
    const sealed = await run("sealed");
    assert.equal(sealed.code, 0, sealed.stdout + sealed.stderr);
    assert.equal(outcomes(sealed)["attempt[task=empty,agent=tries,seed=1]"], "succeeded");
    const records = recordsIn(at.root);
    const parts = records.map(
      ({ record }) => (record as unknown as { parts: { network?: string } }).parts.network,
    );
    assert.deepEqual(parts.sort(), ["hub", undefined]);
    const { digest } = records.find(
      ({ record }) => (record as unknown as { parts: { network?: string } }).parts.network,
    )!;
    const folder = join(at.root, ".mlrb/attempts/records", digest);
    assert.equal(readFileSync(join(folder, "submission/seen"), "utf8"), "200\n403\n200\n403\n1\n");
    const events = readFileSync(join(folder, "trajectory.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.equal(events[0].network, "hub");
    assert.deepEqual(
      events.flatMap((event) => (event.event.startsWith("download") ? [event.path ?? event.cause] : [])),
      ["config.json", "withheld", "x/validation-0.jsonl", "withheld"],
    );
    assert.equal((await run("sealed")).lines.at(-1)!.outcomes.reused, 3);
    const log = await at.pipeline(["log", "withheld", "--root", at.root]);
    assert.ok(!(log.stdout + log.stderr).includes("rivers"));
  },
);
