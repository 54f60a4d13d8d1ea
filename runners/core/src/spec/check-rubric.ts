// Checks a rubric beyond its shape. A judge answers only what is declared, and has seen an example of each answer.
import { openAnswers, plainAnswers, type Rubric } from "@mlrb/formats/declared/rubric";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { didYouMean } from "../yaml/suggest.ts";
import type { Path, YamlSource } from "../yaml/yaml-source.ts";

export function checkRubric(source: YamlSource<Rubric>): Diagnostic[] {
  const { questions } = source.value;
  return questions.flatMap((question, at) => {
    const { id, answers = plainAnswers, unquoted = [], marks = [], examples } = question;
    const problem = (code: string, message: string, path: Path, help: string): Diagnostic => ({
      ...{ code, message, help },
      place: source.place(["questions", at, ...path]),
    });
    const named: [string, Path][] = [
      ...unquoted.map((answer, index): [string, Path] => [answer, ["unquoted", index]]),
      ...marks.map((answer, index): [string, Path] => [answer, ["marks", index]]),
      ...examples.map(({ answer }, index): [string, Path] => [answer, ["examples", index, "answer"]]),
    ];
    const reserved = answers.findIndex((answer) => openAnswers.some((one) => one === answer));
    const without = answers.filter((answer) => !examples.some((one) => one.answer === answer));
    return [
      ...(questions.findIndex((one) => one.id === id) < at
        ? [problem("duplicate", `two questions have the id "${id}"`, ["id"], "give one of them another")]
        : []),
      ...(new Set(answers).size < Math.max(2, answers.length)
        ? [
            problem(
              "wrong-value",
              `the answers of "${id}" are fewer than two, or one is listed twice`,
              ["answers"],
              "list at least two, each once",
            ),
          ]
        : []),
      ...(reserved >= 0
        ? [
            problem(
              "wrong-value",
              `"${answers[reserved]}" is what comes out where votes do not decide`,
              ["answers", reserved],
              "give this answer another name",
            ),
          ]
        : []),
      ...named
        .filter(([answer]) => !answers.includes(answer))
        .map(([answer, path]) =>
          problem(
            "wrong-value",
            `"${answer}" is not an answer of "${id}"`,
            path,
            didYouMean(answer, answers),
          ),
        ),
      ...without.map((answer) =>
        problem(
          "no-example",
          `"${id}" has no example of the answer "${answer}"`,
          ["examples"],
          "a judge that sees one side leans to it: add { text, answer, because }",
        ),
      ),
    ];
  });
}
