// Refuses a first judge of the family of an agent in the plan, or of an unknown one, unless a judge of another known
// family answers too: models prefer what their own family wrote. Refuses tables of answers of no judge.
import { agentModels } from "@mlrb/agents/model/agent-models";
import { familyOf } from "@mlrb/kit/attempts/model-family";
import { type Check, missing } from "./check.ts";
import type { Asked } from "./gate.ts";
import { judgeAsk } from "./judge-bounds.ts";

export function judgeGate({ plan, starts }: Pick<Asked, "plan" | "starts">): Check[] {
  const asking = plan.stages.filter(({ spec }) => spec.paidAnswers).map((stage) => stage.name);
  const idle = starts.find(
    ({ stage: { collect }, members }) =>
      collect.length > 0 && members.length === 0 && collect.every(({ stage }) => asking.includes(stage)),
  );
  const choose = "add --set judge=NAME; `pnpm pipeline list judges` shows all";
  if (idle) return [missing("judge", `no judge is chosen whose answers "${idle.id}" could collect`, choose)];
  if (!starts.some(({ stage }) => stage.spec.paidAnswers)) return [];
  // in the order of the axis
  const judges = new Map(
    plan.instances.flatMap((one) => {
      const ask = judgeAsk(one);
      return ask ? [[String(one.axes.judge ?? one.stage.name), familyOf(ask.model)] as const] : [];
    }),
  );
  const agents = new Map<string | undefined, string>();
  for (const { stage, axes, action } of plan.instances)
    if (stage.durable)
      for (const model of agentModels(action.params)) agents.getOrInsert(familyOf(model), String(axes.agent));
  const [first] = judges;
  if (first === undefined || agents.size === 0) return [];
  const [judge, family] = first;
  if (family !== undefined && !agents.has(family)) return [];
  if ([...judges.values()].some((other) => other !== undefined && !agents.has(other))) return [];
  const all = [...agents.keys()].filter((known) => known !== undefined).sort();
  const whose =
    family === undefined
      ? "of an unknown family, perhaps of an agent's"
      : `of the family ${family}, as is agent ${agents.get(family)}`;
  const state = family === undefined ? "state `family` of its model in a preset, " : "";
  return [
    missing(
      "judge",
      `judge ${judge} is ${whose}: models prefer what their own family wrote`,
      `${state}choose a judge of another family than ${all.join(", ") || "the agents'"}, or add one: --set judge=${judge},OTHER`,
      { code: "judge-family" },
    ),
  ];
}
