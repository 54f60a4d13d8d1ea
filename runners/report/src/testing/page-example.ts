// The data of a page for tests: the run with every outcome of an attempt, with hostile text in every place that
// others can write to.
import { createHash } from "node:crypto";
import type { LedgerMember } from "@mlrb/formats/attempt/ledger";
import type { Report } from "@mlrb/formats/report";
import type { Times } from "@mlrb/formats/times";
import type { Made, PageData, PageExperiment, PageInstance } from "../page/page-data.ts";
import { nastyExample } from "./nasty-example.ts";

export const hostileText = `</script><script>alert(1)</script><img src=x onerror="alert(2)"> ' "&amp;\u202egpj.exe\u0000`;

export function pageExample(): PageData {
  const example = nastyExample();
  const report = example.report();
  return pageOf(
    report,
    example.members.map(({ stage, name, role, axes, outcome, cause }) => ({
      id: stage,
      stage: name,
      ...(role !== undefined && { role }),
      axes,
      outcome:
        outcome === "succeeded"
          ? { kind: "succeeded" }
          : outcome === "not-run"
            ? { kind: "unknown" }
            : { kind: outcome, cause: `${cause} ${hostileText}` },
      reasons: ["first run", hostileText],
      made: outcome === "succeeded" ? madeUp(stage) : null,
      said: ["loading", hostileText],
    })),
  );
}

/** A page of any report, with made-up stages behind its scores. */
export function samplePage(report: Report): PageData {
  const instances = report.attempts.flatMap(({ task, agent, seed, scores }): PageInstance[] => {
    const point = { task, agent, seed };
    const one = (stage: string, axes: Record<string, string | number>): PageInstance => {
      const id = `${stage}[${Object.entries(axes)
        .map((pair) => pair.join("="))
        .join(",")}]`;
      return {
        id,
        stage,
        role: stage,
        axes,
        outcome: { kind: "succeeded" },
        reasons: ["first run"],
        made: madeUp(id),
        said: ["ready"],
      };
    };
    return [
      one("attempt", point),
      ...Object.keys(scores).map((scorer) => one("score", { ...point, scorer })),
    ];
  });
  return pageOf(report, instances);
}

function pageOf(report: Report, instances: PageInstance[]): PageData {
  const times: Times = {
    formatVersion: 1,
    label: report.label,
    attempts: report.attempts.map(({ task, agent, seed }) => ({
      task,
      agent,
      seed,
      wallSeconds: 12.5,
      workingSeconds: 12.5,
      budgetSeconds: 600,
      ended: "finished",
      tokens: null,
      dollars: null,
      gpuHours: 0,
      gpuBusyHours: null,
      firstValidSeconds: 4.5,
      improvementPerHour: null,
      gpuMemoryPeakMiB: null,
      unusedShare: null,
      sinceImprovementSeconds: null,
      bestSoFar: [],
    })),
  };
  return {
    report,
    times,
    plan: { pipeline: "example", profile: "smoke", selection: "" },
    protocol: { kind: "none", freeze: "pnpm pipeline protocol freeze example --profile smoke" },
    commit: "0123456789abcdef0123456789abcdef01234567",
    graph: '<svg viewBox="0 0 100 20"><title>stages</title><text x="5" y="15">score</text></svg>',
    instances,
    stories: report.attempts.map(({ task, agent, seed }, at) =>
      at % 3 === 2
        ? { task, agent, seed, kind: "unreadable", cause: `torn ${hostileText}` }
        : {
            task,
            agent,
            seed,
            kind: "read",
            lines: [
              { sinceStartMs: 2, what: "started", text: hostileText },
              { sinceStartMs: null, what: "", text: "model calls: 12", mark: "faint" },
              {
                sinceStartMs: 70_000,
                what: "shell",
                text: "python3 train.py --rate 0.1 (exit 1)",
                mark: "bad",
              },
              { sinceStartMs: 140_000, what: hostileText, text: "a larger rate may help", mark: "strong" },
            ],
            fits: at % 3 === 1,
            bytes: 12_345_678,
            budget: [
              { name: "working time", used: 12_500, limit: 600_000, words: "13 s of 10 m 0 s (2 %)" },
              { name: "tokens", used: null, limit: null, words: "unknown" },
            ],
            members: at % 3 === 1 ? [exampleMember] : [],
            failures:
              at % 3 === 1 ? [{ whose: "provider", cause: "rate-limit", count: 3, detail: hostileText }] : [],
            experiments: at % 3 === 1 ? [] : exampleExperiments,
            experimentsMore: at % 3 === 1 ? 0 : 7,
            missing: at % 3 === 1 ? [`the budget that it used: ${hostileText}`] : [],
          },
    ),
  };
}

const exampleMember: LedgerMember = {
  ...{ name: `coder ${hostileText}`, agent: hostileText, kind: "llm", calls: 3, end: hostileText },
  ...{
    inputTokens: 300,
    outputTokens: 60,
    dollars: null,
    waitedMs: 2000,
    messages: 2,
    messageCharacters: 80,
  },
};

const exampleExperiments: PageExperiment[] = [
  {
    ...{ sinceStartMs: 3000, what: "a first try", source: "agent", decision: "keep" },
    metric: { name: "bits", split: "dev", value: 3.1 },
  },
  {
    ...{ sinceStartMs: 9000, what: hostileText, source: "rule", decision: null },
    metric: { name: "bits", split: null, value: 3.2 },
  },
  {
    ...{ sinceStartMs: 12_000, what: "nothing measured", source: "agent", decision: hostileText },
    metric: null,
  },
];

function madeUp(stage: string): Made {
  const digest = "0123456789abcdef".repeat(4);
  return {
    key: createHash("sha256").update(stage).digest("hex"),
    record: stage.startsWith("attempt") ? digest : null,
    script: `scorers/${hostileText}/measure.py`,
    params: [{ name: "version", value: "1" }],
    files: [{ path: "scorers/some/words.txt", digest }],
    inputs: [{ name: "submission", digest, from: stage, output: "submission" }],
    outputs: [{ name: "score", digest }],
    environment: digest,
    ran: {
      run: "r1",
      startedAt: "2026-01-02T03:04:05.678Z",
      durationMs: 61_000,
      executor: "local",
      host: "h",
      where: { gpus: "NVIDIA H100 (GPU-1)", driver: "550.54.15" },
    },
    again: `pnpm pipeline run example --only '${stage}'`,
  };
}
