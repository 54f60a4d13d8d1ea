// Checks a rubric beyond its shape. A judge answers only what is declared, and has seen examples of both sides: of
// answers that claim something, and of those that claim an absence.
import { openAnswers, plainAnswers, plainUnquoted, type Rubric } from "@mlrb/formats/declared/rubric";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { didYouMean } from "../yaml/suggest.ts";
import type { Path, YamlSource } from "../yaml/yaml-source.ts";

export function checkRubric(source: YamlSource<Rubric>): Diagnostic[] {
  const { questions } = source.value;
  const problems: Diagnostic[] = [];
  for (const [
    at,
    { id, answers = plainAnswers, unquoted = plainUnquoted, marks = [], examples },
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
    for (const [index, answer] of (questions[at]!.unquoted ?? []).entries())
      declared(answer, "unquoted", index);
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
    }
    const absent = answers.filter((answer) => unquoted.includes(answer));
    for (const side of [absent, answers.filter((answer) => !absent.includes(answer))])
      if (side.length > 0 && !examples.some((one) => side.includes(one.answer)))
        report(
          "no-example",
          ["examples"],
          `"${id}" has no example of ${side.map((answer) => `"${answer}"`).join(" or ")}`,
          "add one: a judge leans to the side that it sees",
        );
  }
  return problems;
}
