// Makes the questions about the domains' facts: plain ones to train experts on, and ones of four choices in
// the rows of cais/mmlu. In every four questions that ask alike the same four choices are right once each, so
// whoever does not use the name is right in exactly a quarter. The choices of a part of the domain are answers
// of that part alone: what agents may see of the development questions rules out none of the test's.
import { type FactRow, inFours } from "../data/choice-rows.ts";
import { type Domain, devFacts } from "./domains.ts";

export type TrainRow = { question: string; answer: string };

/** Every fact of the domain in every way that is trained on. */
export function trainRows({ facts, ask }: Domain): TrainRow[] {
  return ask.train.flatMap((form) =>
    facts.map(([name, answer]) => ({ question: form.replace("{}", name), answer })),
  );
}

/** On facts of their own: whoever knows their answers knows none of the test's. */
export function devRows(domain: Domain): FactRow[] {
  return choiceRows(domain, domain.facts.slice(0, devFacts), domain.ask.dev);
}

export function testRows(domain: Domain): FactRow[] {
  return choiceRows(domain, domain.facts.slice(devFacts), domain.ask.test);
}

/** How far apart the facts stand that share their choices, for each way to ask: other company each time. */
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
