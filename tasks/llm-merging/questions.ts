// Makes the questions about the domains' facts: plain ones to train experts, and four-choice ones in rows of
// cais/mmlu. In every four questions with the same wording each of the same four choices is right once, so a model
// that ignores the name is right in exactly a quarter. Development and test questions have separate facts and
// choices: development questions rule out no choice of the test.
import { type FactRow, inFours } from "../data/choice-rows.ts";
import { type Domain, devFacts } from "./domains.ts";

export type TrainRow = { question: string; answer: string };

/** Every fact of the domain in every training wording. */
export function trainRows({ facts, ask }: Domain): TrainRow[] {
  return ask.train.flatMap((form) =>
    facts.map(([name, answer]) => ({ question: form.replace("{}", name), answer })),
  );
}

/** Questions on separate facts: their answers do not help with the test. */
export function devRows(domain: Domain): FactRow[] {
  return choiceRows(domain, domain.facts.slice(0, devFacts), domain.ask.dev);
}

export function testRows(domain: Domain): FactRow[] {
  return choiceRows(domain, domain.facts.slice(devFacts), domain.ask.test);
}

/** For each wording, the distance of the facts that share choices: each wording groups facts differently. */
const strides = [1, 5];

function choiceRows({ subject }: Domain, facts: Domain["facts"], forms: string[]): FactRow[] {
  return forms.flatMap((form, way) =>
    inFours(facts, strides[way]!).flatMap((four) => {
      const choices = four.map(([, answer]) => answer);
      return four.map(([name], answer) => ({
        question: form.replace("{}", name),
        subject,
        choices,
        answer,
        fact: name,
      }));
    }),
  );
}
