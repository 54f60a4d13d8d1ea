// The contents of this folder are data that judges and their calibration trust: rubrics, labelled trajectories and
// hostile texts.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { plainAnswers, type RubricQuestion, rubricFile } from "@mlrb/formats/declared/rubric";
import { type LabelledTrajectory, labelledFile } from "@mlrb/formats/judged/labelled";
import { mustFollow } from "@mlrb/formats/read-format";
import { parse } from "yaml";

const here = import.meta.dirname;
const text = (...path: string[]) => readFileSync(join(here, ...path), "utf8");
const namesIn = (folder: string, ending: string) =>
  readdirSync(join(here, folder))
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .sort();
const rubricOf = (name: string) => mustFollow(rubricFile, parse(text(`${name}.yaml`)), name);
const labelledOf = (name: string) =>
  mustFollow(labelledFile, JSON.parse(text("labelled", `${name}.json`)), name);
const answersOf = (question: RubricQuestion) => question.answers ?? plainAnswers;
const unquotedOf = (question: RubricQuestion) => question.unquoted ?? ["no"];
const idsOf = ({ id, parts }: RubricQuestion) => parts?.map((part) => `${id}.${part}`) ?? [id];
const differ = (values: readonly string[]) => assert.equal(new Set(values).size, values.length);

const names = namesIn(".", ".yaml");

test("there are labelled trajectories for each rubric, and a rubric for each of them", () => {
  assert.deepEqual(names, ["conduct", "research"]);
  assert.deepEqual(namesIn("labelled", ".json"), names);
});

for (const name of names) {
  const rubric = rubricOf(name);
  const { trajectories, ...file } = labelledOf(name);

  describe(`rubric ${name}`, () => {
    test("is described under its file's name, with a schema for editors", () => {
      assert.equal(rubric.name, name);
      assert.match(
        text(`${name}.yaml`),
        /^# yaml-language-server: \$schema=\.\.\/rubric\.schema\.json\n# [A-Z]/,
      );
      differ(rubric.questions.map(({ id }) => id));
    });

    for (const question of rubric.questions) {
      test(`question ${question.id} is one closed question with examples of more than one side`, () => {
        const answers = answersOf(question);
        assert.match(question.text, /^[A-Z][^?.]*\?$/);
        differ(answers);
        differ(question.parts ?? []);
        for (const answer of [...unquotedOf(question), ...(question.marks ?? [])])
          assert.ok(answers.includes(answer), `no answer ${answer}`);
        assert.ok(unquotedOf(question).length < answers.length, "no answer needs a quote");
        for (const { answer } of question.examples)
          assert.ok(answers.includes(answer), `no answer ${answer}`);
        assert.ok(new Set(question.examples.map(({ answer }) => answer)).size >= 2);
        differ(question.examples.map((example) => example.text));
      });
    }
  });

  describe(`labelled trajectories of ${name}`, () => {
    test("say who labelled them and have names that differ", () => {
      assert.equal(file.rubric, name);
      assert.match(file.labelledBy, /language model.*No second person.*No text is from a real run/);
      differ(trajectories.map(({ id }) => id));
    });

    test("answer each question of the rubric with one of its answers, and nothing else", () => {
      const allowed = new Map(
        rubric.questions.flatMap((one) => idsOf(one).map((id) => [id, answersOf(one)])),
      );
      for (const { id, labels } of trajectories) {
        assert.deepEqual(Object.keys(labels).sort(), [...allowed.keys()].sort(), id);
        for (const [question, answer] of Object.entries(labels))
          assert.ok(allowed.get(question)!.includes(answer), `${id}: ${question} has no answer ${answer}`);
      }
    });

    test("are short stories: 6 to 20 events and 600 to 2 500 characters", () => {
      for (const { id, events } of trajectories) {
        const characters = events.reduce((sum, event) => sum + event.text.length, 0);
        assert.ok(events.length >= 6 && events.length <= 20, `${id}: ${events.length} events`);
        assert.ok(characters >= 600 && characters <= 2500, `${id}: ${characters} characters`);
      }
    });

    test("held-out ones share no phrase of eight words with the rubric", () => {
      const phrases = new Set(
        rubric.questions.flatMap(({ text, definition, examples }) =>
          [text, definition, ...examples.flatMap((example) => [example.text, example.because])].flatMap(
            (part) => [...phrasesOf(part)],
          ),
        ),
      );
      for (const { id, events } of trajectories.filter(({ heldOut }) => heldOut))
        for (const event of events)
          for (const phrase of phrasesOf(event.text)) assert.ok(!phrases.has(phrase), `${id}: ${phrase}`);
    });
  });
}

describe("labelled trajectories of conduct", () => {
  const { questions } = rubricOf("conduct");
  const { trajectories } = labelledOf("conduct");

  for (const { id, examples, marks } of questions) {
    const [yes, no] = ["yes", "no"].map((answer) =>
      trajectories.filter(({ labels }) => labels[id] === answer),
    );

    test(`${id} has at least 12 trajectories with yes and 24 with no, half of each held out`, () => {
      assert.ok(yes!.length >= 12 && no!.length >= 24, `${yes!.length} and ${no!.length}`);
      assert.equal(heldOutOf(yes!), yes!.length / 2);
      assert.equal(heldOutOf(no!), no!.length / 2);
    });

    test(`${id} has at least 12 noes that look like a yes, about half held out`, () => {
      const near = no!.filter(({ nearMiss }) => nearMiss?.includes(id));
      assert.ok(near.length >= 12, `${near.length}`);
      assert.ok(near.length === trajectories.filter(({ nearMiss }) => nearMiss?.includes(id)).length);
      assertAboutHalf(near);
    });

    test(`half of the noes of ${id} are a near miss of some question`, () => {
      const near = no!.filter(({ nearMiss }) => nearMiss !== undefined);
      assert.ok(near.length >= no!.length / 2, `${near.length} of ${no!.length}`);
    });

    test(`${id} marks its yes and has two examples of each side`, () => {
      assert.deepEqual(marks, ["yes"]);
      for (const side of plainAnswers)
        assert.ok(examples.filter(({ answer }) => answer === side).length >= 2, side);
    });
  }

  test("at least 24 are wholly honest, and each of these is a near miss", () => {
    const honest = trajectories.filter(({ labels }) => !Object.values(labels).includes("yes"));
    assert.ok(honest.length >= 24, `${honest.length}`);
    for (const { id, nearMiss } of honest) assert.ok(nearMiss !== undefined && nearMiss.length > 0, id);
  });
});

describe("labelled trajectories of research", () => {
  const { questions } = rubricOf("research");
  const { trajectories } = labelledOf("research");
  const withAnswer = (id: string, ...answers: string[]) =>
    trajectories.filter(({ labels }) => answers.includes(labels[id]!));
  const stages = questions.find(({ id }) => id === "stages")!.parts!;

  test("the main questions have 12 trajectories on one side and 24 on the other, about half of each held out", () => {
    for (const [few, many] of [
      [withAnswer("claim-agrees", "no"), withAnswer("claim-agrees", "yes", "no claim")],
      [withAnswer("beyond-starter", "no"), withAnswer("beyond-starter", "yes")],
      [withAnswer("experiments", "0"), withAnswer("experiments", "1", "2 to 3", "4 to 7", "8 or more")],
      [withAnswer("first-failure", "none"), withAnswer("first-failure", ...stages)],
    ]) {
      const [smaller, larger] = [few!, many!].sort((a, b) => a.length - b.length);
      assert.ok(smaller!.length >= 12 && larger!.length >= 24, `${smaller!.length} and ${larger!.length}`);
      assertAboutHalf(smaller!);
      assertAboutHalf(larger!);
    }
  });

  test("each stage was reached by some and missed by some, held out and not", () => {
    for (const stage of stages)
      for (const answer of plainAnswers)
        for (const side of [true, false]) {
          const some = withAnswer(`stages.${stage}`, answer).filter(({ heldOut }) => heldOut === side);
          assert.ok(some.length > 0, `${stage} ${answer} ${side}`);
        }
  });

  test("each answer of each question occurs", () => {
    for (const question of questions)
      for (const id of idsOf(question))
        for (const answer of answersOf(question))
          assert.ok(withAnswer(id, answer).length > 0, `${id}: ${answer}`);
  });

  test("labels do not contradict each other", () => {
    const counts = answersOf(questions.find(({ id }) => id === "experiments")!);
    for (const { id, labels } of trajectories) {
      const failed = labels["first-failure"]!;
      assert.equal(failed === "none", labels.cause === "none", `${id}: a failure has a cause`);
      if (failed !== "none")
        assert.equal(labels[`stages.${failed}`], "no", `${id}: a failed stage was not reached`);
      else assert.equal(labels["stages.hand-in"], "yes", `${id}: without a hand-in something failed`);
      assert.ok(
        counts.indexOf(labels.kept!) <= counts.indexOf(labels.experiments!),
        `${id}: kept more than it tried`,
      );
      if (labels.experiments !== "0")
        assert.equal(labels["stages.change"], "yes", `${id}: an experiment is a change`);
    }
  });
});

describe("all labelled trajectories", () => {
  const all = names.flatMap((name) => labelledOf(name).trajectories);
  const phrases = new Map(
    all.map(({ id, events }) => [id, new Set(events.flatMap((event) => [...phrasesOf(event.text)]))]),
  );
  const most = 0.05;

  test("each tells its own story: two share at most a twentieth of their phrases of eight words", () => {
    differ(all.map(({ id }) => id));
    for (const [first, ofFirst] of phrases)
      for (const [second, ofSecond] of phrases)
        if (first < second) {
          const share = sharedPart(ofFirst, ofSecond);
          assert.ok(share <= most, `${first} and ${second} share ${share}`);
        }
  });

  test("a story with some words swapped would be found", () => {
    const words = all[0]!.events.flatMap((event) => wordsOf(event.text));
    const swapped = words.map((word, at) => (at % 25 === 0 ? "other" : word));
    assert.ok(sharedPart(phrasesOf(words.join(" ")), phrasesOf(swapped.join(" "))) > most);
  });
});

function heldOutOf(trajectories: readonly LabelledTrajectory[]): number {
  return trajectories.filter(({ heldOut }) => heldOut).length;
}

function assertAboutHalf(trajectories: readonly LabelledTrajectory[]) {
  const share = heldOutOf(trajectories) / trajectories.length;
  assert.ok(share >= 0.4 && share <= 0.6, `${share} of ${trajectories.length} are held out`);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Each sequence of eight words of a text. */
function phrasesOf(text: string): Set<string> {
  const words = wordsOf(text);
  return new Set(words.slice(7).map((_, at) => words.slice(at, at + 8).join(" ")));
}

/** How much of the smaller set is in the other one, 0 to 1. */
function sharedPart(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const smaller = Math.min(a.size, b.size);
  return smaller === 0 ? 0 : a.intersection(b).size / smaller;
}
