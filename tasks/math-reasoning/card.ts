// The card of the public data: the rows, and their dialect of Lean.
import type { Item } from "./items.ts";

export function card({ train, dev }: { train: Item[]; dev: Item[] }): string {
  return `---
configs:
  - config_name: default
    data_files: [{ split: train, path: train.jsonl }, { split: dev, path: dev.jsonl }]
---
# house-math: statements and proofs of math-reasoning, smoke

${train.length} rows to train on (\`train.jsonl\`) and ${dev.length} to measure on (\`dev.jsonl\`), one JSON object a line:

- \`name\`: of the row;
- \`informal_statement\`, \`informal_proof\`: in English;
- \`formal_proof\`: one Lean 4 theorem with its proof. Names of theorems are not counted by any measure of proof.

In \`provenance.json\` this data is called \`house-math\`. The fields are those of
AlgorithmicResearchGroup/math_reasoning_autoformalization_track, for which it stands in.

How the formal side is written: letters are bound in front, predicates, then numbers, then propositions, each in
the order in which the hypotheses and then the claim mention them. A single hypothesis is called \`h\`, several
\`h1\`, \`h2\`. The bound number of a general statement is called \`n\`. Names count: a theorem with other letters or
another order is another statement.

\`House.lean\` is the whole library: it is imported above every theorem, and Lean's own is not there (no
tactics, no signs such as ∧ or +, no \`match\`). To check a file by hand with a Lean 4.35:
\`lean -o House.olean House.lean\`, then one that begins with \`prelude\` and \`import House\`.

A \`prompt.json\` that leaves the informal proof out; without one, models are asked with the lines
\`Statement: {{informal_statement}}\`, \`Proof: {{informal_proof}}\` and \`Lean:\`, a line break after each:

    {"formatVersion": 1, "template": "Statement: {{informal_statement}}\\nLean:\\n"}

A third of \`dev.jsonl\` is phrased in ways that \`train.jsonl\` never is. Held-out rows that are not here are
like that, too, in ways of their own; none of them states what a row here states.

Made by this project's generator (tasks/math-reasoning); under the project's own licence.
`;
}
