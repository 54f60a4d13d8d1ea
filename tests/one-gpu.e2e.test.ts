// The first command of the profile one-gpu, at a terminal: what it asks and says before anything is downloaded or
// paid for. The hub is a double, and so is the GPU; one-gpu.thorough.test.ts runs the profile.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { answered } from "./support/answers.ts";
import { fakeGpus, fakeNvidia } from "./support/machines/fake-nvidia.ts";
import { publishSources } from "./support/rehearsal/official-sources.ts";
import { startProgram } from "./support/run-program.ts";
import { LoopbackHub } from "./support/servers/loopback-hub.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const root = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-one-gpu-")));
const hub = await new LoopbackHub().start();
after(() => {
  hub.close();
  repository.remove();
  removeFolder(root);
});

const sources = ["babylm", "blimp", "gpt2", "wikitext-2"];
const { bin } = fakeNvidia(join(root, "nvidia"), fakeGpus(1));
const env = {
  PATH: `${bin}:${process.env.PATH}`,
  MLRB_GPU_LEASES: join(root, "leases"),
  HF_ENDPOINT: hub.endpoint,
  OPENAI_API_KEY: "test",
};
const args = (model: string, ...more: string[]) => [
  ...["run", "full-benchmark", "--profile", "one-gpu", "--set", `model=${model}`, "--root", root, ...more],
];
const model = "openai/gpt-6.2-sol";
const downloads = () => hub.requests.filter(({ path }) => path.startsWith("/lfs/")).length;

test("without a terminal the run is refused with the commands that lock and accept, and without a model with --set", async () => {
  publishSources(hub, sources);
  const said = await startProgram(repository.path, args(model, "--max-cost", "20"), { env }).ended;
  assert.equal(said.code, 2);
  assert.match(said.stderr, /unresolved-source: babylm, blimp, gpt2, wikitext-2: /);
  assert.match(said.stderr, /`[^`]+ sources lock babylm blimp gpt2 wikitext-2`/);
  const without = ["run", "full-benchmark", "--profile", "one-gpu", "--root", root];
  const none = await startProgram(repository.path, without, { env }).ended;
  assert.equal(none.code, 2);
  assert.match(none.stderr, /no-model: .*[\s\S]*--set model=PROVIDER\/ID/);
});

test("a model without a price is refused with the option that gives it, before anything is asked", async () => {
  const unknown = args("openai/gpt-unheard-of", "--max-cost", "20");
  const { code, shown } = await answered(repository.path, unknown, { env, answers: [] });
  assert.equal(code, 2, shown);
  assert.match(shown, /no-price: .* may spend at most 20 dollars, .*--price gpt-unheard-of=INPUT\/OUTPUT/s);
});

test("at a terminal the run asks to lock and to accept, then names downloads with bytes and the most dollars, then asks to start", async () => {
  const refused = await answered(repository.path, args(model, "--max-cost", "20"), { env, answers: ["n"] });
  assert.equal(refused.code, 2, refused.shown);
  assert.match(refused.shown, /unresolved-source/, "the refusal is printed after all");
  assert.match(repository.read("sources.lock.yaml"), /^ {2}gpt2: \{ kind: unresolved \}$/m);
  const asked = args(model, "--max-cost", "20");
  const { code, shown } = await answered(repository.path, asked, { env, answers: ["y", "y", "n"] });
  const at = (words: RegExp) => {
    const found = shown.search(words);
    assert.ok(found >= 0, `${words} is not in: ${shown}`);
    return found;
  };
  assert.equal(code, 2, shown);
  const order = [
    at(/This run downloads babylm \(about 28\.2 MiB\), blimp \(size unknown\), gpt2 \(about [\d.]+ MiB\), /),
    at(/^4 sources written to sources\.lock\.yaml/m),
    at(/^gpt2: mit; [\d.]+ \S+; http/m),
    at(/Do you accept 4 licences\?/),
    at(/^from the hub: 4 sources, [\d.]+ \S+ \(babylm [\d.]+ \S+, blimp /m),
    at(
      /^by budgets and prices: 1 attempt, at most 4\.0 GPU hours, at most 20\.00 dollars; --max-cost 20 holds$/m,
    ),
    at(/This would start 1 attempt, about 4\.0 GPU hours and 20\.00 dollars; .* Start\?/),
  ];
  assert.deepEqual(
    order,
    [...order].sort((a, b) => a - b),
  );
  assert.match(repository.read("sources.lock.yaml"), /^ {2}gpt2:\n {4}kind: resolved/m);
  assert.equal(downloads(), 0, "nothing is downloaded before a yes");
  assert.ok(!existsSync(join(root, "results")));
});

test("locked and accepted sources are not asked for again", async () => {
  const asked = args(model, "--max-cost", "20");
  const { shown } = await answered(repository.path, asked, { env, answers: ["n"] });
  assert.doesNotMatch(shown, /This run downloads|Do you accept/);
  assert.match(shown, /Start\?/);
});
