// Checks a rubric beyond its shape. A judge answers only what is declared, and has seen an example of each answer.
import { openAnswers, plainAnswers, type Rubric } from "@mlrb/formats/declared/rubric";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { didYouMean } from "../yaml/suggest.ts";
import type { Path, YamlSource } from "../yaml/yaml-source.ts";

export function checkRubric(source: YamlSource<Rubric>): Diagnostic[] {
  const { questions } = source.value;
  const problems: Diagnostic[] = [];
  for (const [
    at,
    { id, answers = plainAnswers, unquoted = [], marks = [], examples },
  ] of questions.entries()) {
    const report = (code: string, path: Path, message: string, help: string) =>
      problems.push({ code, message, place: source.place(["questions", at, ...path]), help });
    const declared = (answer: string, ...path: Path) => {
      if (answers.includes(answer)) return;
      report("wrong-value", path, `"${answer}" is not an answer of "${id}"`, didYouMean(answer, answers));
    };
    if (questions.findIndex((one) => one.id === id) < at)
      report("duplicate", ["id"], `two questions have the id "${id}"`, "give one of them another");
    if (new Set(answers).size < Math.max(2, answers.length))
      report(
        "wrong-value",
        ["answers"],
        `"${id}" has fewer than two answers, or one twice`,
        "list at least two, each once",
      );
    for (const [index, answer] of unquoted.entries()) declared(answer, "unquoted", index);
    for (const [index, answer] of marks.entries()) declared(answer, "marks", index);
    for (const [index, { answer }] of examples.entries()) declared(answer, "examples", index, "answer");
    for (const answer of answers) {
      if (openAnswers.some((one) => one === answer))
        report(
          "wrong-value",
          ["answers"],
          `"${answer}" stands for undecided votes`,
          "give this answer another name",
        );
      if (!examples.some((one) => one.answer === answer))
        report(
          "no-example",
          ["examples"],
          `"${id}" has no example of the answer "${answer}"`,
          "add one: a judge leans to the side that it sees",
        );
    }
  }
  return problems;
}
