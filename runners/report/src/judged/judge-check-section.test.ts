import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeChecks } from "@mlrb/formats/judged/judge-check";
import { mustFollow } from "@mlrb/formats/read-format";
import { checkedJudge, checkOf, judgeOf } from "../testing/judge-example.ts";
import { judgeCheckSection } from "./judge-check-section.ts";

const section = (...checks: ReturnType<typeof checkOf>[]) => judgeCheckSection(checksOf(...checks));
const checksOf = (...checks: ReturnType<typeof checkOf>[]) =>
  mustFollow(judgeChecks, { formatVersion: 1, checks, missing: [] }, "the example");

/** The table whose title ends so: a line for each row. */
function table(made: ReturnType<typeof section>, title: string): string[] {
  const found = made.tables.find((one) => one.title.endsWith(title))!;
  return found.groups.flatMap(({ rows }) =>
    rows.map((row) => row.map(({ lines }) => lines.join(" ")).join(" | ")),
  );
}

test("counts keep open answers apart from right and wrong ones, on all trajectories and on held-out ones", () => {
  assert.deepEqual(table(section(checkedJudge()), ": counts"), [
    "copied | all | 5 (2 yes) | 1 | 1 | 1 | 0 | 1 unsupported 1 split | 4 of 5",
    "copied | held out | 3 (1 yes) | 0 | 1 | 1 | 0 | 1 unsupported | 3 of 3",
    "effort | all | 1 | – | – | – | – | – | 1 of 1",
  ]);
});

test("each rate has its interval, comes with open answers once more, and kappa is last", () => {
  const made = section(checkedJudge());
  assert.deepEqual(table(made, ": rates").slice(0, 2), [
    "copied | all | 1.00 0.21–1.00 | 0.50 0.09–0.91 | 0.50 0.09–0.91 | 0.67 0.21–0.94 | 0.40",
    "copied | all, with open | 0.50 0.09–0.91 | 0.67 0.21–0.94 | 0.33 0.06–0.79 | 0.60 0.23–0.88 | 0.17",
  ]);
  assert.equal(made.tables[1]!.columns.at(-1)!.head, "kappa");
});

test("an always-yes judge shows as sensitivity 1 and specificity 0, an unsupported one as nothing but open answers", () => {
  const judged = (answer: string) =>
    section(
      checkOf(
        ["yes", "no", "no"].map((label, at) => ({
          ...{ trajectory: `t${at}`, heldOut: true, question: "copied" as const, label, answer },
        })),
      ),
    );
  assert.match(
    table(judged("yes"), ": rates")[0]!,
    /^copied \| all \| 1\.00 0\.21–1\.00 \| 0\.00 0\.00–0\.66 \|/,
  );
  assert.match(table(judged("unsupported"), ": rates")[0]!, /^copied \| all \| – \| – \| – \| – \| –$/);
  assert.match(table(judged("unsupported"), ": counts")[0]!, /\| 0 \| 0 \| 0 \| 0 \| 3 unsupported \|/);
});

test("answers are listed that differ from a label, and all of a trajectory without any", () => {
  assert.deepEqual(table(section(checkedJudge()), "or other than it"), [
    "a | effort | some | much",
    "b | copied | no | split",
    "c | copied | no | yes",
    "e | copied | yes | unsupported",
    "f | copied | – | no",
  ]);
  const partly = {
    trajectory: "a",
    heldOut: false,
    question: "effort",
    label: null,
    answer: "much",
  } as const;
  const labelled = { ...partly, question: "copied", label: "yes", answer: "yes" } as const;
  assert.deepEqual(table(section(checkOf([labelled, partly])), "or other than it"), []);
});

test("snapshots, temperature, days, digest, votes and the labeller stand by each judge, which has its own tables", () => {
  const hot = { ...judgeOf, judge: { ...judgeOf.judge, temperature: 1 } };
  const made = section(checkedJudge(), checkedJudge(hot));
  assert.equal(made.tables.length, 6);
  assert.deepEqual(
    made.items.map(({ head }) => head),
    ["local/small at 0, rubric leaks, 3 votes", "local/small at 1, rubric leaks, 3 votes"],
  );
  assert.equal(
    made.items[0]!.text,
    "answered by small-2026-11, temperature 0, on 2026-11-30, rubric digest ababababab, prompt version 1, 3 votes; labelled by: Ada; 0.25 dollars",
  );
  assert.match(made.caption, /Votes of one model measure repeatability, not truth\.$/);
});

test("a check that failed is named with its cause", () => {
  const missing = [{ stage: "judge-check[judge=x]", cause: "no key" }];
  assert.deepEqual(judgeCheckSection({ formatVersion: 1, checks: [], missing }).items, [
    { head: "judge-check[judge=x]", text: "no result: no key" },
  ]);
});
