// The parts of an action key, and when and where an action ran. Entries of the action cache and records of
// attempts hold both.

import * as t from "../schema.ts";
import { artifactKind } from "./artifact.ts";

export const axisValues = t.tableOf({ type: ["string", "number"] } as const);
const texts = t.tableOf(t.anyText);

/**
 * The limits that shape an agent's behaviour; an absent one limits nothing. `tokens` are input and output of all model
 * calls. Only allowances set `machines` (times the machine of others) and the price of a working hour, which dollars count.
 */
export const plannedBudget = t.openObject(
  {
    ...{ timeMs: t.amount, tokens: t.amount, dollars: t.amount },
    ...{ machines: t.amount, machineDollarsPerHour: t.amount },
  },
  [],
);
export type PlannedBudget = t.TypeOf<typeof plannedBudget>;

export const keyParts = t.wholeExcept(["agentEnv", "image", "network", "services"], {
  keyFormat: t.count,
  run: t.kindsOf(
    t.variant("script", { file: t.anyText }),
    t.variant("python", { file: t.anyText }),
    t.variant("command", { command: t.eitherType(t.anyText, t.listOf(t.anyText)) }),
  ),
  code: t.about(
    texts,
    "digest of all code that can run, by file; empty for a durable stage, whose harness is provenance, not key",
  ),
  files: t.about(texts, "digest of each declared file"),
  params: t.tableOf(t.json),
  axes: axisValues,
  inputs: t.about(texts, "digest of each input by name"),
  outputs: t.tableOf(artifactKind),
  env: texts,
  agentEnv: t.about(texts, "for an attempt: the variables that every agent sees"),
  budget: plannedBudget,
  environment: t.textOrNull,
  host: t.nullable(texts),
  network: t.about(
    t.oneOf("full", "hub"),
    "for an attempt: the network that its programs reach; absent without one",
  ),
  services: t.about(texts, "action key of each service that it uses, by name; absent without any"),
  image: t.about(
    t.anyText,
    "identity of the image of its containers; absent if it runs trusted on this host's own programs",
  ),
});
export type KeyParts = t.TypeOf<typeof keyParts>;

export const ran = t.about(
  t.wholeExcept(["where"], {
    run: t.anyText,
    startedAt: t.anyText,
    durationMs: t.number,
    executor: t.anyText,
    host: t.anyText,
    where: t.about(texts, "environment on that host: sandbox, image, engine, GPUs"),
  }),
  "when and where it ran: kept next to its outputs and never in them",
);
export type Ran = t.TypeOf<typeof ran>;
