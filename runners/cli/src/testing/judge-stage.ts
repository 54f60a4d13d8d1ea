// Instances that ask a judge, for tests of gates.
import type { Instance } from "@mlrb/core/plan/plan";

const rubric = {
  name: "conduct",
  questions: [
    {
      id: "cited",
      text: "Was a paper cited?",
      definition: "By its name.",
      examples: [
        { text: "A.", answer: "yes", because: "A." },
        { text: "B.", answer: "no", because: "B." },
      ],
    },
  ],
};

export type JudgeModel = { provider: string; id: string; key?: string; free?: boolean; family?: string };

/** About the attempt at index `from`. */
export function judgeStage(judge: string, model: JudgeModel, from = 0): Instance {
  const { key } = model;
  const params = {
    model: { contextTokens: 1000, maxOutputTokens: 100, ...model },
    ...{ rubric, votes: 3, extractCharactersMax: 2000 },
  };
  return {
    id: `ask[judge=${judge},seed=${from}]`,
    axes: { judge, seed: from },
    inputs: [{ name: "extract", from, output: "extract" }],
    stage: { name: "ask", durable: false, collect: [], spec: { paidAnswers: true } },
    execution: { resources: { gpus: 0, pools: {} } },
    action: { params, secrets: key === undefined ? [] : [key], budget: {} },
  } as unknown as Instance;
}
