// The parts of an action key, and when and where an action ran. Entries of the action cache and records of attempts hold
// both.

import {
  anyText,
  count,
  eitherType,
  json,
  kindsOf,
  listOf,
  nullable,
  number,
  oneOf,
  openObject,
  type TypeOf,
  tableOf,
  textOrNull,
  wholeExcept,
  wholeObject,
} from "../schema.ts";
import { artifactKind } from "./artifact.ts";

export const axisValues = tableOf({ type: ["string", "number"] } as const);
const texts = tableOf(anyText);

export const keyParts = wholeExcept(["agentEnv", "image", "network", "services"], {
  keyFormat: count,
  run: kindsOf(
    wholeObject({ kind: { const: "script" }, file: anyText }),
    wholeObject({ kind: { const: "python" }, file: anyText }),
    wholeObject({ kind: { const: "command" }, command: eitherType(anyText, listOf(anyText)) }),
  ),
  code: {
    ...texts,
    description:
      "digest of all code that can run, by file; empty for a durable stage, whose harness is provenance, not key",
  },
  files: { ...texts, description: "digest of each declared file" },
  params: tableOf(json),
  axes: axisValues,
  inputs: { ...texts, description: "digest of each input by name" },
  outputs: tableOf(artifactKind),
  env: texts,
  agentEnv: { ...texts, description: "for an attempt: the variables that every agent sees" },
  budget: openObject({ timeMs: number, tokens: number, dollars: number }, []),
  environment: textOrNull,
  host: nullable(texts),
  network: {
    ...oneOf("full", "hub"),
    description: "for an attempt: the network that its programs reach; absent without one",
  },
  services: {
    ...texts,
    description: "action key of each service that it uses, by name; absent without any",
  },
  image: {
    ...anyText,
    description:
      "identity of the image of its containers; absent if it runs trusted on this host's own programs",
  },
});
export type KeyParts = TypeOf<typeof keyParts>;

export const ran = {
  ...wholeExcept(["where"], {
    run: anyText,
    startedAt: anyText,
    durationMs: number,
    executor: anyText,
    host: anyText,
    where: { ...texts, description: "environment on that host: sandbox, image, engine, GPUs" },
  }),
  description: "when and where it ran: kept next to its outputs and never in them",
} as const;
export type Ran = TypeOf<typeof ran>;
