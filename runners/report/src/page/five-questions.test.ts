import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import { parseHTML } from "linkedom";
import { deadAttempt, finished, threeModels, threeStagesFailed } from "../testing/question-pages.ts";
import { page } from "./page.ts";
import type { PageData } from "./page-data.ts";

const reportOf = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, "../../../../docs", name, "report.json"), "utf8"));

/** The answer to a question as a reader sees it, and the ids that it links to. */
function asked(data: PageData) {
  const { document } = parseHTML(page(data));
  const said = (id: string) => document.querySelector(`.answers #${id} dd`)!;
  return {
    text: (id: string) => said(id).textContent.replace(/\s+/g, " ").trim(),
    links: (id: string) =>
      [...said(id).querySelectorAll("a")].map((link) => {
        const to = link.getAttribute("href")!.slice(1);
        assert.ok(document.getElementById(to), `${id} leads to ${to}, which is not on the page`);
        return to;
      }),
    rows: () =>
      [...said("agents").querySelectorAll("tbody tr")].map((row) =>
        [...row.children].map(({ textContent }) => textContent.replace(/^[^\w] /, "")),
      ),
  };
}

const attempt = (agent: string, seed: number) => `attempt__letters__${agent}__${seed}`;

test("of a finished run: who won, that it is practice, that nothing went wrong, and that scripts are scripts", () => {
  const { text, links, rows } = asked(finished(reportOf("smoke")));
  assert.match(
    text("who-won"),
    /^Practice data\. Observed: script-strong has the better mean at 7 of 7 tasks/,
  );
  assert.match(text("is-it-real"), /^Yes, at some task of this practice data\. .*p = 6\.4e-5/);
  assert.match(text("cost"), /^In total, dollars: unknown; GPU hours: 0; time: 5 m 0 s; over 24 attempts\./);
  assert.match(text("went-wrong"), /^Nothing that was recorded\. .*24 attempts planned: 24 pass\. 46 scores/);
  assert.deepEqual(links("went-wrong"), []);
  const script = ["none: a script or program", "none", "2026-01-02", "unknown", "0", "2 m 30 s"];
  assert.deepEqual(rows(), [
    ["script-strong", ...script],
    ["script-weak", ...script],
  ]);
});

test("a person is said to be a person, not a program", () => {
  const report: Report = reportOf("smoke");
  const agents = report.agents.map((one) => ({
    ...one,
    preset: { ...one.preset!, kind: "person" as const },
  }));
  const { rows } = asked(finished({ ...report, agents }));
  assert.deepEqual(
    rows().map(([, model]) => model),
    ["none: a person", "none: a person"],
  );
});

test("of the sample: who is ahead, which pairs differ, why attempts are disqualified, undecided or unscored, and that no model was called", () => {
  const { text, rows } = asked(finished(reportOf("sample")));
  assert.match(
    text("who-won"),
    /^Practice data\. Observed: sample-a has the best mean at 2 of 2 tasks \(5 attempts each, failed ones as the trivial baseline\)/,
  );
  assert.match(text("is-it-real"), /^For 2 of 3 pairs of agents, at some task of this practice data\./);
  assert.match(text("cost"), /^In total, dollars: .* over 30 attempts\./);
  assert.match(
    text("went-wrong"),
    /^1 disqualified: mini-pile, sample-b, seed 2: Predictions use only the text before them: the text after a token helps to predict it, by \d+ nats a token.* 2 undecided: baby-lm, sample-c, seed 3: .* 2 not measured: baby-lm, sample-c, seed 3: .*non-finite output/,
  );
  assert.deepEqual(
    rows().map(([agent, model, scaffold]) => [agent, model, scaffold]),
    ["sample-a", "sample-b", "sample-c"].map((agent) => [
      agent,
      "none called: a replay of a recording",
      "as recorded",
    ]),
  );
  const data = finished(reportOf("sample"));
  const served = [{ provider: "sample", model: "sample-a", answeredBy: "sample-a", calls: 9 }];
  const attempts = data.times!.attempts.map((one) => ({ ...one, served }));
  const named = asked({ ...data, times: { ...data.times!, attempts } });
  assert.equal(named.rows()[0]![1], "none called: a replay of sample sample-a");
});

test("of a run where three stages failed: each with its own cause, never that a later stage was skipped", () => {
  const { text, links } = asked(threeStagesFailed());
  assert.match(text("who-won"), /^Practice data\. Observed: no task can be compared/);
  assert.match(text("is-it-real"), /^Not tested\./);
  assert.match(
    text("went-wrong"),
    /^1 without a result: letters, weak, seed 3: attempt failed: the sandbox did not start 1 not measured: letters, good, seed 2: bits: score failed: exit code 9 1 failed elsewhere: calibration\[\]: no GPU was free 6 attempts planned: 5 pass, 1 missing\./,
  );
  assert.doesNotMatch(text("went-wrong"), /skipped|Nothing/);
  assert.deepEqual(links("went-wrong"), [
    attempt("weak", 3),
    attempt("good", 2),
    "stage__calibration_5b__5d_",
  ]);
});

test("of a run with a dead attempt: what was lost, what continued, and that its cost is not in the sum", () => {
  const { text, links } = asked(deadAttempt());
  assert.match(text("who-won"), /^Observed: good has the better mean at 1 of 1 task/);
  assert.match(text("is-it-real"), /^Not shown\..*smallest possible p is 0\.10/);
  assert.match(text("cost"), /over 6 attempts\. Lost tries are not included\./);
  assert.match(
    text("went-wrong"),
    /^1 lost before: attempt\[task=letters,agent=weak,seed=2\]: lost: the attempt started 2026-01-01\S* ended without a record \(its host died\) 1 resumed: letters, good, seed 3: resumed once after its supervisor or host died/,
  );
  const [lost, ...others] = links("went-wrong");
  assert.match(lost!, /^stage__attempt/);
  assert.deepEqual(others, [attempt("good", 3)]);
});

test("of a run of three models: pairs, known costs, three kinds of failure, and model, scaffold and day", () => {
  const { text, links, rows } = asked(threeModels());
  assert.match(text("who-won"), /^Observed: model-a has the best mean at 1 of 1 task/);
  assert.match(text("is-it-real"), /^For 2 of 3 pairs of agents, at some task\./);
  assert.match(
    text("cost"),
    /^In total, dollars: at least 45\.00 \(of 14 of 15\); GPU hours: at least 140 \(of 14 of 15\); time: at least 140 h 0 m \(of 14 of 15\); over 15 attempts\./,
  );
  assert.match(
    text("went-wrong"),
    /^1 without a result: letters, model-c, seed 2: attempt failed: the provider refused the model 1 disqualified: letters, model-b, seed 3: Trained from scratch: equals known weights 1 undecided: letters, model-b, seed 5: Trained from scratch: its card names no data/,
  );
  assert.deepEqual(links("went-wrong"), [
    attempt("model-c", 2),
    attempt("model-b", 3),
    attempt("model-b", 5),
  ]);
  assert.deepEqual(rows(), [
    ["model-a", "openai large-1", "react", "2026-01-02", "20.00", "50", "50 h 0 m"],
    ["model-b", "openai large-2", "mlrb-2024", "2026-01-02", "20.00", "50", "50 h 0 m"],
    [
      ...["model-c", "openai small-1", "react", "2026-01-02", "at least 5.00 (of 4 of 5)"],
      ...["at least 40 (of 4 of 5)", "at least 40 h 0 m (of 4 of 5)"],
    ],
  ]);
});

test("the model that answered is named where it is not the one that was asked for", () => {
  const data = threeModels();
  const served = [{ provider: "openai", model: "large-1", answeredBy: "large-1-0806", calls: 3 }];
  const attempts = data.times!.attempts.map((one) => (one.agent === "model-a" ? { ...one, served } : one));
  const { rows } = asked({ ...data, times: { ...data.times!, attempts } });
  assert.equal(rows()[0]![1], "openai large-1, answered by large-1-0806");
  assert.equal(rows()[1]![1], "openai large-2");
});

test("further cases of one kind are one click away, each with its own cause and link", () => {
  const data = threeModels();
  const attempts = data.report.attempts.map((one) =>
    one.agent === "model-a" && Number(one.seed) < 3
      ? { ...one, verdict: { kind: "missing" as const, cause: `attempt failed: cause ${one.seed}` } }
      : one,
  );
  const { text, links } = asked({ ...data, report: { ...data.report, attempts } });
  assert.match(text("went-wrong"), /^3 without a result: letters, model-a, seed 1: .*cause 1 and 2 more/);
  assert.match(text("went-wrong"), /letters, model-a, seed 2: attempt failed: cause 2/);
  assert.deepEqual(links("went-wrong").slice(0, 2), [attempt("model-a", 1), attempt("model-a", 2)]);
});
