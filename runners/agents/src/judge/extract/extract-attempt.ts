// Makes the extract of an attempt, which is all that a judge reads. It opens files of strangers, so it runs inside
// walls, without a key or a network. Equal files give equal bytes.
import { readFileSync } from "node:fs";
import { publicNames } from "@mlrb/formats/declared/task";
import type { Extract } from "@mlrb/formats/judged/extract";
import { identity } from "@mlrb/formats/judged/identity";
import { overlap } from "@mlrb/formats/judged/overlap";
import { mustFollow } from "@mlrb/formats/read-format";
import { orNull, text, wholeObject } from "@mlrb/formats/schema";
import type { StageContext } from "@mlrb/formats/stage/stage-context";
import { readJson } from "@mlrb/kit/json-file";
import { sourceFile } from "@mlrb/kit/source-file";
import { attemptParams } from "../../attempt/attempt-params.ts";
import { withAfterword, withForeword } from "../../attempt/render-prompt.ts";
import { extractDraft, extractLimits } from "./extract-draft.ts";
import { agentNames, nameHider } from "./hidden-names.ts";
import { identityText, overlapText } from "./measured-texts.ts";
import { addTrajectory } from "./trajectory-events.ts";
import { addWorkspace } from "./workspace-files.ts";

const extractParams = wholeObject({
  agent: text,
  publicNames: orNull(publicNames),
  data: text,
  limits: extractLimits,
});

type Stage = Pick<StageContext, "params" | "inputs">;

/** Of a stage with the params of an attempt and its prompt. All inputs except the trajectory may be missing. */
export async function extractAttempt({ params, inputs: all }: Stage): Promise<Extract> {
  const { agent, limits, ...task } = mustFollow(extractParams, { ...params }, "params of the extract stage");
  const preset = attemptParams(params);
  const inputs: Record<string, string | undefined> = { ...all };
  const foreword = inputs.prompt && readFileSync(inputs.prompt, "utf8");
  const afterword = inputs.text && readFileSync(inputs.text, "utf8");
  const own = withAfterword(readFileSync(sourceFile(preset.prompt), "utf8"), afterword);
  const prompt = withForeword(foreword, own).trim();
  const members = preset.team?.members ?? [];
  const hidden = agentNames(agent, preset);
  for (const member of members) {
    const its = agentNames(member.agent, attemptParams({ ...member.preset, prompt: preset.prompt }));
    for (const [shown, names] of Object.entries(its)) hidden[shown] = hidden[shown]!.concat(names);
  }
  const hide = nameHider(hidden, prompt);
  // copies of the prompt hold the seed and a time
  const blanks = prompt.split("\n").filter((line) => line.includes("{{"));
  const filled = (line: string) => RegExp.escape(line).replace(/\\\{\\\{.*?\\\}\\\}/g, "[\\w .:-]{1,100}");
  const copies = blanks.map((line) => [new RegExp(filled(line), "g"), line] as const);
  // of reported experiments, so that an attempt has the same extract each time it is replayed
  copies.push([/"time": ?"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"time":"[time]"']);
  const blank = (text: string) => copies.reduce((all, [copy, line]) => all.replace(copy, () => line), text);
  const draft = extractDraft(limits, (text) => hide(blank(text)));
  draft.add("prompt", prompt);
  const names = task.publicNames?.[task.data] ?? [];
  const files = { trajectory: all.trajectory!, attachments: inputs.attachments };
  const { naming, downloads, nameOf } = await addTrajectory(draft, files, names);
  const given = [inputs.public, inputs.starter, inputs.help].filter((one) => one !== undefined);
  const owners = preset.team?.workspace === "own" ? members : [];
  const folders = new Map(owners.map(({ name }) => [name, nameOf(name)]));
  addWorkspace(draft, inputs.workspace, { given, members: folders });
  const [held, weights] = [inputs.overlap, inputs.identity];
  return draft.extract((eventsOf) => [
    ...(held ? [overlapText(mustFollow(overlap, readJson(held), held), eventsOf)] : []),
    ...(weights ? [identityText(mustFollow(identity, readJson(weights), weights))] : []),
    `Events with calls that name the benchmark (${names.join(", ") || "no name is known"}): ${naming.flatMap(eventsOf).join(", ") || "none"}`,
    `Downloads through the gateway:\n${[...downloads].join("\n") || "none on record"}`,
  ]);
}
