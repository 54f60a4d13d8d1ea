import assert from "node:assert/strict";
import { test } from "node:test";
import type { RubricQuestion } from "@mlrb/formats/declared/rubric";
import { type Answers, answers as answersFormat } from "@mlrb/formats/judged/answers";
import { judgeCheck } from "@mlrb/formats/judged/judge-check";
import { type LabelledFile, labelledFile } from "@mlrb/formats/judged/labelled";
import { mustFollow } from "@mlrb/formats/read-format";
import { type AskAbout, checkJudge } from "./check-judge.ts";

const questions: RubricQuestion[] = [
  { id: "copied", text: "Were rows copied?", definition: "Rows of the test.", examples: [] },
  {
    id: "effort",
    text: "How much was done?",
    definition: "Work.",
    answers: ["none", "some", "much"],
    unquoted: ["none"],
    parts: ["data", "model"],
    examples: [],
  },
];

type Labels = Record<string, string>;

function trajectory(id: string, labels: Labels, heldOut = false): LabelledFile["trajectories"][number] {
  return { id, heldOut, events: [{ kind: "message", text: `I am ${id}.` }], labels };
}

function labelled(...trajectories: LabelledFile["trajectories"]): LabelledFile {
  const file = { formatVersion: 1, rubric: "leaks", labelledBy: "the test", trajectories } as const;
  return mustFollow(labelledFile, file, "fixture");
}

/** Five trajectories; of the held-out ones, one copied and one did not. */
const five = labelled(
  trajectory("a", { copied: "yes" }),
  trajectory("b", { copied: "no" }),
  trajectory("c", { copied: "no" }),
  trajectory("d", { copied: "yes" }, true),
  trajectory("e", { copied: "no", "effort.data": "much" }, true),
);

type Script = (text: string, question: string) => string | string[];

/** A judge that gives these votes by the text of the first event; several votes that differ are a split. */
function scripted(script: Script, heard: string[] = []): AskAbout {
  return async ({ extract, extractDigest }) => {
    heard.push(extractDigest);
    const text = extract.events[0]!.text;
    const ids = ["copied", "effort.data", "effort.model"];
    const answered = ids.map((id) => {
      const votes = [script(text, id)].flat();
      const answer = new Set(votes).size === 1 ? votes[0]! : "split";
      return { id, answer, marks: answer === "yes", votes: votes.map((one, at) => vote(at + 1, one)) };
    });
    const made: Answers = {
      formatVersion: 1,
      extract: extractDigest,
      rubric: { name: "leaks", digest: "0".repeat(64) },
      judge: {
        ...{ provider: "local", id: "scripted", family: "family unknown", temperature: 0 },
        answeredBy: [`scripted-of-${text.at(-2)}`],
      },
      ...{ promptVersion: 1, votes: 2, dollars: 0.5, questions: answered },
    };
    return mustFollow(answersFormat, made, "scripted answers");
  };
}

function vote(number: number, answer: string): Answers["questions"][number]["votes"][number] {
  const asked = `2026-11-0${number}`;
  return { vote: number, answer, said: answer, reasons: "", quotes: [], readAll: true, asked };
}

async function checked(script: Script, file = five) {
  const result = await checkJudge(file, { rubric: "leaks", questions, ask: scripted(script) });
  assert.equal(result.kind, "checked", JSON.stringify(result));
  return mustFollow(judgeCheck, (result as Extract<typeof result, { kind: "checked" }>).check, "the check");
}

/** The measures of the question with two answers. */
async function detected(script: Script, set: "all" | "heldOut" = "all") {
  const own = (await checked(script)).measures.filter(
    (one) => one.question === "copied" && one.heldOut === (set === "heldOut"),
  );
  const [closed, openCounted] = own.map((one) => ({ ...one, ...one.detection! }));
  assert.deepEqual([own.length, closed!.openCounted, openCounted!.openCounted], [2, false, true]);
  return { closed: closed!, openCounted: openCounted!, open: closed!.open, unanimous: closed!.unanimous };
}

const share = (rate: { count: number; of: number } | null) => rate && `${rate.count}/${rate.of}`;

test("a judge that always says yes has sensitivity 1, specificity 0 and a kappa of 0", async () => {
  const { closed } = await detected(() => "yes");
  assert.equal(share(closed.sensitivity), "2/2");
  assert.equal(share(closed.specificity), "0/3");
  assert.equal(share(closed.falseAlarms), "3/3");
  assert.equal(closed.kappa, 0);
});

test("a judge that always says no has sensitivity 0, specificity 1 and no false alarms", async () => {
  const { closed } = await detected(() => "no");
  assert.equal(share(closed.sensitivity), "0/2");
  assert.equal(share(closed.specificity), "3/3");
  assert.equal(share(closed.falseAlarms), "0/3");
});

test("a judge whose claims are all unsupported has no rate at all, and no sensitivity where open answers count", async () => {
  const { closed, openCounted, open } = await detected(() => "unsupported");
  assert.deepEqual([closed.sensitivity, closed.specificity, closed.falseAlarms], [null, null, null]);
  assert.equal(share(openCounted.sensitivity), "0/2");
  assert.deepEqual(open, { "cannot tell": 0, unsupported: 5, split: 0 });
});

test("held-out trajectories are measured apart", async () => {
  const script: Script = (text) => (/[abc]\.$/.test(text) ? (text.endsWith("a.") ? "yes" : "no") : "yes");
  assert.equal(share((await detected(script)).closed.agreement), "4/5");
  assert.equal(share((await detected(script, "heldOut")).closed.falseAlarms), "1/1");
});

test("votes that differ are a split, and count against repeatability only", async () => {
  const { unanimous, closed } = await detected((text) => (text.endsWith("a.") ? ["yes", "no"] : "no"));
  assert.equal(share(unanimous), "4/5");
  assert.equal(share(closed.sensitivity), "0/1");
});

test("each part of a question is measured by its own labels", async () => {
  const { measures } = await checked((_, id) => (id === "copied" ? "no" : "much"));
  assert.deepEqual(
    measures
      .filter(({ heldOut, openCounted }) => !heldOut && !openCounted)
      .map((one) => [one.question, one.detection === null, one.labelled, share(one.agreement)]),
    [
      ["copied", false, 5, "3/5"],
      ["effort.data", true, 1, "1/1"],
      ["effort.model", true, 0, null],
    ],
  );
});

test("the check names every snapshot and day, and sums what the answers cost", async () => {
  const { judge, days, dollars, labelledBy } = await checked(() => ["no", "no"]);
  assert.deepEqual(
    judge.answeredBy,
    ["a", "b", "c", "d", "e"].map((one) => `scripted-of-${one}`),
  );
  assert.deepEqual([days, dollars, labelledBy], [["2026-11-01", "2026-11-02"], 2.5, "the test"]);
});

test("one answer of unknown cost makes the sum unknown", async () => {
  const ask: AskAbout = async (asked) => ({
    ...(await scripted(() => "no")(asked)),
    ...(asked.extract.events[0]!.text.endsWith("b.") && { dollars: null }),
  });
  const result = await checkJudge(five, { rubric: "leaks", questions, ask });
  assert(result.kind === "checked");
  assert.equal(result.check.dollars, null);
});

test("a question that is called as something that every object has is unlabelled without a label", async () => {
  const odd = [{ ...questions[0]!, id: "constructor" }];
  const ask: AskAbout = async (asked) => {
    const given = await scripted(() => "no")(asked);
    return { ...given, questions: given.questions.map((one) => ({ ...one, id: "constructor" })) };
  };
  const result = await checkJudge(labelled(trajectory("a", {})), { rubric: "leaks", questions: odd, ask });
  assert(result.kind === "checked");
  assert.equal(result.check.answers[0]!.label, null);
});

test("a judge is not told a trajectory's name, label or whether it is held out", async () => {
  const heard: string[] = [];
  const events = [{ kind: "message", text: "I am x." }] as const;
  const same = labelled(
    { ...trajectory("one", { copied: "yes" }), events: [...events] },
    { ...trajectory("two", { copied: "no" }, true), events: [...events] },
  );
  await checkJudge(same, { rubric: "leaks", questions, ask: scripted(() => "no", heard) });
  assert.equal(heard.length, 2);
  assert.equal(new Set(heard).size, 1, "equal texts are one extract, whose answers are bought once");
});

test("trajectories without a label are answered and enter no rate", async () => {
  const { measures, answers } = await checked(() => "yes", labelled(trajectory("plain", {})));
  assert.equal(measures[0]!.labelled, 0);
  const { trajectory: id, label, answer } = answers[0]!;
  assert.deepEqual([id, label, answer], ["plain", null, "yes"]);
});

test("labels of another rubric, of no question and of no answer are all named before a call is made", async () => {
  const heard: string[] = [];
  const wrong = labelled(trajectory("a", { copeid: "yes" }), trajectory("b", { copied: "maybe" }));
  const asked = { rubric: "others", questions, ask: scripted(() => "yes", heard) };
  assert.deepEqual(await checkJudge(wrong, asked), {
    kind: "unusable",
    causes: [
      "the labels are of the rubric leaks, not others",
      'a: the rubric has no question "copeid"',
      'b: "maybe" is no answer of copied (yes, no)',
    ],
  });
  assert.deepEqual(heard, []);
  const empty = await checkJudge(labelled(), { ...asked, rubric: "leaks" });
  assert.deepEqual(empty, { kind: "unusable", causes: ["there is no trajectory"] });
});
