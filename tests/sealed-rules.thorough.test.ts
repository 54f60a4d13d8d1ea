// The official rules on data, bases and experts, decided by what the download gateway recorded instead of by the
// agent's word: six scripted attempts at each of four tasks, some of which lie in provenance.json.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import { recordedDownloads } from "@mlrb/kit/attempts/recorded-downloads";
import type { RuleArguments, RuleContext } from "@mlrb/kit/rules/rule-method";
import { ruleMethods } from "@mlrb/kit/rules/rule-methods";
import { parse } from "yaml";
import { attemptStage } from "./support/attempts/attempt-stages.ts";
import { recordsIn } from "./support/end-state.ts";
import { lab } from "./support/lab.ts";
import { LoopbackHub } from "./support/servers/loopback-hub.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const hub = await new LoopbackHub().start();
after(() => {
  hub.close();
  repository.remove();
});
const missing = await bubblewrapMissing();

const [before, later] = ["2024-05-30T12:00:00.000Z", "2024-06-01T12:00:00.000Z"];

/** A repository of a model with weights. */
function publish(
  name: string,
  { made = before, committed = before, parameters = 7e9, later: newer = {} } = {},
): void {
  const weights = { "model.safetensors": `weights of ${name}` };
  const repository = hub.commit("model", name, { ...weights, "README.md": "v1", "tokenizer.json": "{}" });
  Object.assign(repository, { createdAt: made, parameters });
  repository.commits[0]!.date = committed;
  if (Object.keys(newer).length === 0) return;
  hub.commit("model", name, { ...weights, "README.md": "v1", "tokenizer.json": "{}", ...newer });
  repository.commits[0]!.date = later;
}

const weights = (name: string) => `${name}/resolve/main/model.safetensors`;
const rows = (name: string) => `datasets/${name}/resolve/main/train.jsonl`;
for (const name of [
  "AlgorithmicResearchGroup/babylm",
  "AlgorithmicResearchGroup/minipile",
  "lab/web",
  "mirror/minipile",
])
  hub.commit("dataset", name, { "train.jsonl": `${JSON.stringify({ text: `a row of ${name}` })}\n` });
hub.commit("dataset", "cais/mmlu", { "x/validation-0.jsonl": "{}\n", "x/test-0.jsonl": "{}\n" });
const mmluTest = "datasets/cais/mmlu/resolve/main/x/test-0.jsonl";
for (const name of [
  "openai-community/gpt2",
  "bigscience/bloom-560m",
  "microsoft/phi-4",
  "bert-lab/secret",
  "google/gemma-7b",
])
  publish(name);
publish("lab/expert");
publish("lab/small", { parameters: 1e9 });
publish("lab/huge", { parameters: 9e9 });
publish("lab/late", { made: later, committed: later });
publish("lab/renewed", { later: { "model.safetensors": "other weights" } });
publish("lab/described", { later: { "README.md": "v2" } });

type Attempt = {
  /** What the agent fetches, of the hub. */
  fetches: string[];
  /** What it writes to provenance.json. */
  states?: object;
  /** The rule by name, and its answer. */
  answers: Record<string, "pass" | "fail">;
};

const data = (answer: "pass" | "fail", fetches: string[], states: object = {}): Attempt => ({
  ...{ fetches, states },
  answers: { "given-data": answer },
});
const based = (
  answer: "pass" | "fail",
  fetches: string[],
  states: object = {},
  test: "pass" | "fail" = "pass",
): Attempt => ({
  ...{ fetches, states },
  answers: { "approved-base": answer, "not-the-test": test },
});
const merged = (
  answer: "pass" | "fail",
  fetches: string[],
  states: object = {},
  test: "pass" | "fail" = "pass",
): Attempt => ({
  ...{ fetches, states },
  answers: { "experts-permitted": answer, "not-the-test": test },
});
const [babylm, minipile] = ["AlgorithmicResearchGroup/babylm", "AlgorithmicResearchGroup/minipile"];

const attempts: Record<string, Attempt[]> = {
  "baby-lm": [
    data("pass", []),
    data("pass", [rows(babylm)], { data: [babylm] }),
    data("pass", [rows(babylm), "openai-community/gpt2/resolve/main/tokenizer.json"]),
    data("fail", [rows(babylm), rows("lab/web")], { data: [babylm] }),
    data("fail", [weights("openai-community/gpt2")], { data: [babylm] }),
    data("fail", [], { data: [babylm, "my books"] }),
  ],
  "mini-pile": [
    data("pass", [rows(minipile)]),
    data("pass", [rows(minipile), mmluTest], { data: [minipile] }),
    data("pass", [], { data: [minipile] }),
    data("fail", [rows("mirror/minipile")], { data: [minipile] }),
    data("fail", [rows(minipile), weights("bigscience/bloom-560m")], { data: [minipile] }),
    data("fail", [rows(babylm)], { data: [minipile] }),
  ],
  "llm-efficiency": [
    based("pass", [weights("openai-community/gpt2")], { base: "gpt2", data: ["lab/web"] }),
    based("pass", [weights("bigscience/bloom-560m"), mmluTest, rows("lab/web")]),
    based("fail", [weights("microsoft/phi-4")], { base: "gpt2" }),
    based("fail", [weights("google/gemma-7b")], { base: "meta-llama/Llama-2-7b" }),
    based("fail", [weights("bert-lab/secret")], { base: "bert" }),
    based("pass", [weights("openai-community/gpt2")], { data: ["a mirror of MMLU"] }, "fail"),
  ],
  "llm-merging": [
    merged("pass", [weights("lab/expert"), weights("lab/small")], { experts: ["lab/expert"] }),
    merged("pass", [weights("lab/described"), mmluTest]),
    merged("fail", [weights("lab/expert"), weights("lab/huge")], { experts: ["lab/expert"] }),
    merged("fail", [weights("lab/late")], { experts: ["lab/expert"] }),
    merged("fail", [weights("lab/renewed")], { experts: ["lab/renewed"] }),
    merged("fail", [weights("lab/late"), weights("lab/huge")], { data: ["cais/mmlu"] }, "fail"),
  ],
};

/** Fetches what its task and seed say; a refusal is no reason to stop. */
const script = `
case "$MLRB_TASK-$MLRB_SEED" in
${Object.entries(attempts)
  .flatMap(([task, all]) =>
    all.map(
      ({ fetches, states }, at) =>
        `${task}-${at + 1}) paths="${fetches.join(" ")}"; states='${JSON.stringify(states ?? {})}' ;;`,
    ),
  )
  .join("\n")}
esac
printf '%s' "$states" > "$MLRB_SUBMISSION/provenance.json"
for path in $paths; do
  python3 -c 'import os, sys, urllib.request; urllib.request.urlopen(os.environ["HF_ENDPOINT"] + "/" + sys.argv[1]).read()' "$path" || true
done
`;

test("six attempts at each of four tasks pass or fail the rules on data, bases and experts by what entered, whatever they state", {
  ...(missing !== undefined && { skip: missing }),
}, async (t) => {
  const at = lab(t, repository);
  at.script("program/agent.sh", script);
  at.script("prompt.md", "Until {{deadline}}.\n");
  const [program, prompt] = [`${at.name}/program`, `${at.name}/prompt.md`];
  at.define({
    axes: { task: Object.keys(attempts), agent: ["scripted"], seed: [1, 2, 3, 4, 5, 6] },
    stages: {
      data: {
        each: ["task"],
        command: "echo x > {outputs.public}/a; echo '{}' > {outputs.private}/test.jsonl",
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
        network: "hub",
        params: {
          kind: "command",
          command: ["sh", "./agent.sh"],
          program,
          trusted: false,
          prompt,
        },
        files: [`${program}/**`, prompt],
      }),
    },
  });
  const said = await at.pipeline(["run", at.name, "--json", "--root", at.root, "--weak-limits"], {
    env: { HF_ENDPOINT: hub.endpoint },
  });
  assert.equal(said.code, 0, said.stdout + said.stderr);

  const found: string[] = [];
  for (const { record, digest } of recordsIn(at.root)) {
    const { task, seed } = record.axes as { task: string; seed: number };
    const folder = join(at.root, ".mlrb/attempts/records", digest);
    const downloads = await recordedDownloads(join(folder, "trajectory.jsonl"));
    assert.ok(downloads, `${task} ${seed} is not sealed`);
    const context = { folder: join(folder, "submission"), downloads } as RuleContext;
    for (const rule of officialRules(task)) {
      const expected = attempts[task]![seed - 1]!.answers[rule.name];
      if (expected === undefined) continue;
      const { answer, evidence } = ruleMethods[rule.method]!.decide!(context, rule.with);
      found.push(`${task} ${rule.name}`);
      assert.equal(answer, expected, `${task} ${seed} ${rule.name}: ${evidence}`);
      const alone = ruleMethods[rule.method]!.decide!({ ...context, downloads: undefined }, rule.with);
      assert.doesNotMatch(alone.evidence, /recorded by/);
    }
  }
  assert.deepEqual(
    Object.entries(Object.groupBy(found, (one) => one))
      .map(([name, all]) => [name, all!.length])
      .sort(),
    [
      ["baby-lm given-data", 6],
      ["llm-efficiency approved-base", 6],
      ["llm-efficiency not-the-test", 6],
      ["llm-merging experts-permitted", 6],
      ["llm-merging not-the-test", 6],
      ["mini-pile given-data", 6],
    ],
  );
});

type Rule = { name: string; method: string; with: RuleArguments; on?: string[] };

/** Those of the task's rules that hold for official data, as task.yaml has them. */
function officialRules(task: string): Rule[] {
  const { rules } = parse(readFileSync(join(repository.path, "tasks", task, "task.yaml"), "utf8")) as {
    rules: Rule[];
  };
  return rules.filter(({ on }) => on === undefined || on.includes("official"));
}
