// What entries of the action cache and records of attempts both hold: what an action key was made of, and when and
// where the action ran.

import {
  anyText,
  count,
  eitherType,
  json,
  kindsOf,
  listOf,
  nullable,
  number,
  openObject,
  type TypeOf,
  tableOf,
  textOrNull,
  wholeObject,
} from "../schema.ts";
import { artifactKind } from "./artifact.ts";

export const axisValues = tableOf({ type: ["string", "number"] } as const);
const texts = tableOf(anyText);

export const keyParts = openObject(
  {
    keyFormat: count,
    run: kindsOf(
      {},
      [],
      [
        wholeObject({ kind: { const: "script" }, file: anyText }),
        wholeObject({ kind: { const: "python" }, file: anyText }),
        wholeObject({ kind: { const: "command" }, command: eitherType(anyText, listOf(anyText)) }),
      ],
    ),
    code: {
      ...texts,
      description:
        "digest of what can run, by file; empty for a durable stage, whose harness is provenance, not key",
    },
    files: { ...texts, description: "digest of each declared file" },
    params: tableOf(json),
    axes: axisValues,
    inputs: { ...texts, description: "digest of each input by name" },
    outputs: tableOf(artifactKind),
    env: texts,
    agentEnv: { ...texts, description: "of an attempt: the variables that every agent sees" },
    budget: openObject({ timeMs: number, tokens: number, dollars: number }, []),
    environment: textOrNull,
    host: nullable(texts),
    image: {
      ...anyText,
      description:
        "identity of the image of its containers; left out where it runs this host's own programs, trusted",
    },
  },
  [
    "keyFormat",
    "run",
    "code",
    "files",
    "params",
    "axes",
    "inputs",
    "outputs",
    "env",
    "budget",
    "environment",
    "host",
  ],
);
export type KeyParts = TypeOf<typeof keyParts>;

export const ran = {
  ...openObject(
    {
      run: anyText,
      startedAt: anyText,
      durationMs: number,
      executor: anyText,
      host: anyText,
      where: { ...texts, description: "in what on that host: sandbox, image, engine, GPUs" },
    },
    ["run", "startedAt", "durationMs", "executor", "host"],
  ),
  description: "when and where it ran: kept beside what it gave and never in it",
} as const;
export type Ran = TypeOf<typeof ran>;
