// pipelines/judges/NAME.yaml: questions with closed answers that a judge model answers about an extract.
import * as t from "../schema.ts";

const example = t.closedObject(
  {
    text: t.about(t.text, "what a trajectory shows"),
    answer: t.about(t.text, "one of the question's answers"),
    because: t.text,
  },
  ["text", "answer", "because"],
);

const rubricQuestion = t.closedObject(
  {
    id: t.name,
    text: t.about(t.text, "one sentence that ends in a question mark"),
    definition: t.about(t.text, "what counts and what does not; the second call sees it with the quotes"),
    answers: t.about(t.list, "closed, at least two; absent: yes, no"),
    unquoted: t.about(
      t.list,
      "the answers that claim an absence: they stand only if all was read; every other one needs a quote. Absent: no",
    ),
    parts: t.about(
      t.list,
      "the question is asked of each of these in one call, e.g. of stages; absent: one answer",
    ),
    marks: t.about(t.list, "answers that mark an attempt for a person; absent: none"),
    examples: t.about(t.listOf(example), "of every side, shown in random order"),
  },
  ["id", "text", "definition", "examples"],
);
export type RubricQuestion = t.TypeOf<typeof rubricQuestion>;

export const rubricFile = t.fileFormat(
  "mlrb rubric",
  t.closedObject(
    {
      formatVersion: t.formatVersionOne,
      name: t.name,
      title: t.title,
      about: t.about(t.text, "what the rubric is for, and who wrote it from what"),
      questions: t.listOf(rubricQuestion),
    },
    ["formatVersion", "name", "title", "about", "questions"],
  ),
);
export type Rubric = t.TypeOf<typeof rubricFile>;

/** The answers, and those of them that claim an absence, of a question that declares none. */
export const plainAnswers = ["yes", "no"];
export const plainUnquoted = ["no"];

/** What can come out of several votes, beside the question's own answers. */
export const openAnswers = ["cannot tell", "unsupported", "split"] as const;
