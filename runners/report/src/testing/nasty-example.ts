// A run with every outcome of an attempt, and hostile text in every place that an agent can write to. The golden
// files are its report.
import {
  Example,
  pairItems,
  passed,
  referenceRows,
  rejectedScore,
  researched,
  scored,
  textItems,
  verdict,
} from "./example.ts";

const hostile =
  '\u001b[31mPASS\u001b[0m | <b>**all rules** kept</b> \u202egnp.exe\u202c\r\n=HYPERLINK("http://example.invalid","x") NaN \ud800';
const groupHostile = "=1+1 | \\input{/etc/passwd} % & $x_1^2$ 日本";

/** With secondary measurements, one of them under a hostile name. */
function withExtra(given: ReturnType<typeof scored>, seed: number): ReturnType<typeof scored> {
  return {
    ...given,
    score: { ...given.score, extra: { latencySeconds: seed / 7, [groupHostile]: 12_345_678 } },
  };
}

/** `people` false: as the run was before there were undecided attempts and decisions of people. */
export function nastyExample({ people = true } = {}): Example {
  const example = new Example();
  const at = (task: string, agent: string, seed: number) => ({ task, agent, seed });
  const letters = (
    agent: string,
    seed: number,
    bits: number,
    right: number,
    judged: { verdict: object } = passed,
  ) => {
    const axes = at("letters", agent, seed);
    example
      .gives("attempt", axes, { submission: `sha256:${agent}${seed}` })
      .gives("validate", axes, people ? judged : passed)
      .gives(
        "score",
        { ...axes, scorer: "bits" },
        withExtra(scored("bits", textItems(bits, seed / 100)), seed),
      )
      .gives(
        "score",
        { ...axes, scorer: "pairs" },
        scored(
          "pairs",
          pairItems(right, 200, (index) => (index % 4 === 0 ? groupHostile : `g${index % 4}`)),
        ),
      );
  };
  letters("plain", 1, 3.02, 97, verdict("disqualified"));
  letters("plain", 2, 3.04, 99, verdict("undecided", { answer: "undecided", evidence: hostile }));
  letters("strong", 1, 2.48, 120);

  // plain, seed 1: a person decided against the machine, after another one; and on a rule that was not judged.
  const imported = { kind: "imported", signedBy: null } as const;
  const unused = { by: hostile.slice(0, 80), reason: hostile, counts: false, origin: imported };
  const decisions = [
    { rule: "from-scratch", verdict: "fail", ...unused },
    { rule: "from-scratch", reason: "its own weights; the match is the tokenizer's table" },
    { rule: "renamed-since", verdict: "fail" },
  ] as const;
  if (people) example.decided(at("letters", "plain", 1), ...decisions);

  // strong, seed 2: broke a rule, was scored, and has evidence that reads like a pass.
  const disqualified = at("letters", "strong", 2);
  example
    .gives("attempt", disqualified, { submission: "sha256:strong2" })
    .gives("validate", disqualified, verdict("disqualified", { evidence: hostile }))
    .gives("score", { ...disqualified, scorer: "bits" }, scored("bits", textItems(1.1)))
    .gives("score", { ...disqualified, scorer: "pairs" }, rejectedScore("pairs", `@SUM(1) ties: ${hostile}`));

  // letters over time: one that improved, one equal all along, one of half a model, one that broke a rule.
  const then = (
    seed: number,
    agent: string,
    checkpoint: string,
    stood: object,
    score: Record<string, unknown>,
    digest: string,
  ) => {
    const axes = { ...at("letters", agent, seed), checkpoint };
    example.gives("checkpoint", axes, { checkpoint: { formatVersion: 1, ...stood }, contents: digest });
    for (const scorer of ["bits", "pairs"])
      example.gives("checkpoint-score", { ...axes, scorer }, scorer === "bits" ? score : { score: "" });
  };
  const snapshot = { stood: { kind: "snapshot", name: "0001" }, admitted: true, reasons: [] };
  const torn = { ...snapshot, admitted: false, reasons: [{ code: "config", detail: `torn: ${hostile}` }] };
  const none = { ...torn, stood: { kind: "none" } };
  const rejectedThen = (why: string) => rejectedScore("bits", `not admitted: ${why}`);
  then(1, "plain", "50%", snapshot, scored("bits", textItems(3.03)), "sha256:halfway");
  then(1, "plain", "5%", none, rejectedThen("nothing was handed in"), "sha256:empty");
  then(2, "plain", "5%", snapshot, scored("bits", textItems(3.04, 0.02)), "sha256:plain2");
  then(2, "plain", "50%", snapshot, scored("bits", textItems(3.04, 0.02)), "sha256:plain2");
  then(1, "strong", "5%", torn, rejectedThen(`torn: ${hostile}`), "sha256:torn");
  then(1, "strong", "50%", snapshot, scored("bits", textItems(2.6)), "sha256:better");
  then(2, "strong", "5%", snapshot, scored("bits", textItems(1.2)), "sha256:early");
  example
    .fails("checkpoint", { ...disqualified, checkpoint: "50%" }, "failed", "it was not kept")
    .fails(
      "checkpoint-score",
      { ...disqualified, checkpoint: "50%", scorer: "bits" },
      "skipped",
      "checkpoint failed",
    );

  // numbers: the trivial baseline's row was not measured; seed 1 is missing, seed 2 was rejected, one score is no
  // JSON.
  for (const agent of ["plain", "strong"]) {
    const one = at("numbers", agent, 1);
    example
      .fails("attempt", one, "failed", "the sandbox did not start")
      .fails("validate", one, "skipped", "attempt failed")
      .fails("score", { ...one, scorer: "right" }, "skipped", "attempt failed");
  }
  const rejected = at("numbers", "plain", 2);
  example
    .gives("attempt", rejected, { submission: "sha256:empty" })
    .gives("validate", rejected, {
      verdict: { formatVersion: 1, kind: "rejected", rules: [], facts: {} },
    })
    .gives("score", { ...rejected, scorer: "right" }, rejectedScore("right", "config.json is missing"));
  const spoiled = { ...rejected, checkpoint: "75%" };
  example
    .gives("checkpoint", spoiled, { checkpoint: { formatVersion: 1, ...snapshot }, contents: "sha256:good" })
    .gives("checkpoint-score", { ...spoiled, scorer: "right" }, scored("right", pairItems(150)));
  const unreadable = at("numbers", "strong", 2);
  example
    .gives("attempt", unreadable, { submission: "sha256:日本語" })
    .gives(
      "validate",
      unreadable,
      verdict("undecided", { answer: "undecided", evidence: "日本語 の 証拠 🙂" }),
    )
    .gives(
      "score",
      { ...unreadable, scorer: "right" },
      { score: '{"formatVersion": 1, "value": NaN', samples: "" },
    );

  // of the research: one improved, one reached a limit, one is hostile, one cannot be read, one is broken.
  const values = (...list: number[]) =>
    list.map((value, at) => ({ value, sinceStartMs: at * 60_000, predicted: null }));
  const said = (name: string, ...list: number[]) => ({
    metric: { name, split: "dev" },
    values: values(...list),
  });
  example
    .gives(
      "iterations",
      at("letters", "plain", 1),
      researched({
        ...{ executedIterations: 2, ...said("bits", 3.1, 3) },
        benchmarkCalls: { kind: "counted", calls: 2, names: ["blimp", "nyu-mll/blimp"] },
      }),
    )
    .gives(
      "iterations",
      at("letters", "plain", 2),
      researched({ ...said("bits", 1.2, 1.5), predictionError: 0.25, predictions: 2 }, [
        { kind: "limit", detail: "it reached its time limit", evidence: [9] },
      ]),
    )
    .gives(
      "iterations",
      at("letters", "strong", 1),
      researched(
        said(groupHostile, 1e29),
        [{ kind: "crash", detail: hostile, evidence: [] }],
        null,
        people ? `${hostile} ${"and more of it ".repeat(20)}` : null,
      ),
    )
    .gives("iterations", disqualified, { iterations: '{"formatVersion": 1, "kind": "found"}' })
    .gives("iterations", rejected, {
      iterations: {
        formatVersion: 1,
        kind: "not-measured",
        reason: "the trajectory is broken at line 3: not JSON",
      },
    })
    .fails("iterations", unreadable, "failed", "exit code 1");

  if (people) {
    const sizes = { layers: 12, decoderLayers: null, width: 768, heads: null, vocabulary: 50_257 };
    const none = { given: [], known: [], entered: null };
    const stated = { base: hostile, experts: [groupHostile], data: [hostile, groupHostile], tokenizer: null };
    example
      .planned({ condition: "no-network", budget: { timeMs: 86_400_000, dollars: 43 } })
      .built(at("letters", "plain", 2), { ...none, architecture: { type: "gpt2", ...sizes }, stated: null })
      .built(at("letters", "strong", 1), { ...none, architecture: { type: hostile, ...sizes }, stated })
      .built(rejected, { ...none, architecture: null, stated })
      .built(disqualified, {
        architecture: { type: "t5", ...sizes, decoderLayers: 6 },
        given: [{ model: "base", share: 0.987 }],
        known: ["gpt2", "distilgpt2"],
        entered: [{ from: "dataset", id: hostile }],
        stated: { ...stated, base: null, experts: [], data: [] },
      });
  }

  return example
    .gives(
      "references",
      { task: "letters", scorer: "bits" },
      referenceRows("bits", [
        { name: "unigram", value: 3.07, standardError: 0.02 },
        { name: "bigram", value: 2.19, standardError: 0.02 },
      ]),
    )
    .gives(
      "references",
      { task: "letters", scorer: "pairs" },
      referenceRows("pairs", [
        { name: "random", rejected: `ties: ${hostile}` },
        { name: "trigram", value: 0.61 },
      ]),
    )
    .fails("references", { task: "numbers", scorer: "right" }, "failed", "exit code 1");
}
