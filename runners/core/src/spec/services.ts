// Services: stages whose command is a server for other stages. Checks how they are declared, and finds their
// addresses in the texts of their users. Pure.
import type { StageSpec } from "@mlrb/formats/declared/pipeline";
import type { Json } from "@mlrb/kit/stage";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { didYouMean } from "../yaml/suggest.ts";
import type { StageContext } from "./check-stage.ts";
import { type Reference, stagesBefore } from "./references.ts";

type Stages = Record<string, StageSpec>;

/** What a service may declare. It makes nothing, has one instance, and runs where the runner is. */
const settings =
  "title like service command needs params files env secrets environment resources limits".split(" ");

/** Checked together with what profiles say, when its execution is resolved. */
const elsewhere = ["executor", "image", "network"];

const whyNot: Record<string, string> = {
  gives: "a service makes nothing: what its users get is its address",
  each: "a service has one instance; write a service for each model",
  script: "write the server as a command",
  python: "write the server as a command; with environment its Python is first in PATH",
};

const address = /\{services\.([a-zA-Z][\w-]*)\.url\}/g;

/** The names of the services whose addresses occur in a value, each once. */
export function servicesNamed(value: Json): string[] {
  return [...new Set([...JSON.stringify(value).matchAll(address)].map((match) => match[1]!))];
}

/** `value` with the addresses of services filled in, at any depth. */
export function withAddresses(value: Json, urls: Readonly<Record<string, string>>): Json {
  if (typeof value === "string")
    return value.replace(address, (all, name) => (Object.hasOwn(urls, name) ? urls[name]! : all));
  if (Array.isArray(value)) return value.map((one) => withAddresses(one, urls));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withAddresses(one, urls)]));
}

/** The stages that each service is for, as references from these stages to the service. */
export function serviceUsers(stages: Stages): Map<string, Reference[]> {
  return new Map(
    Object.entries(stages).flatMap(([name, { service }]) =>
      service ? [[name, stagesBefore(service.for, ["stages", name, "service", "for"])] as const] : [],
    ),
  );
}

export function checkServices(stages: Stages, context: StageContext): Diagnostic[] {
  return Object.entries(stages).flatMap(([name, stage]) =>
    stage.service === undefined
      ? []
      : [
          ...checkSettings(name, stage, context),
          ...checkPort(name, stage, context),
          ...checkUsers(name, stages, context),
        ],
  );
}

function checkSettings(name: string, stage: StageSpec, { source }: StageContext): Diagnostic[] {
  return Object.keys(stage)
    .filter((key) => !settings.includes(key) && !elsewhere.includes(key))
    .map((key) => ({
      code: "service-setting",
      message: `"${name}" is a service and has ${key}`,
      place: source.place(["stages", name, key], "key"),
      help: whyNot[key] ?? `remove ${key}; a service may have ${settings.slice(2).join(", ")}`,
    }));
}

/** Without it the server would listen on a port that its users do not know. */
function checkPort(name: string, { command }: StageSpec, { source }: StageContext): Diagnostic[] {
  const words = Array.isArray(command) ? command.join(" ") : command;
  if (words === undefined || words.includes("{port}")) return [];
  return [
    {
      code: "missing-port",
      message: `the command of the service "${name}" does not say {port}`,
      place: source.place(["stages", name, "command"]),
      help: "the runner chooses a free port; tell the server, e.g. --host 127.0.0.1 --port {port}",
    },
  ];
}

function checkUsers(name: string, stages: Stages, { source, unclear }: StageContext): Diagnostic[] {
  const path = ["stages", name, "service"];
  if (unclear(...path)) return [];
  const users = stages[name]!.service!.for ?? [];
  if (users.length === 0)
    return [
      {
        code: "unused-service",
        message: `no stage may use the service "${name}"`,
        place: source.place(path, "key"),
        help: "write service: { for: [attempt] } with the stages that use it, or remove the service",
      },
    ];
  return users.flatMap((user, index): Diagnostic | [] => {
    const place = source.place([...path, "for", index]);
    if (!Object.hasOwn(stages, user)) {
      const help = didYouMean(user, Object.keys(stages));
      return { code: "unknown-stage", message: `no stage named "${user}"`, place, help };
    }
    if (stages[user]!.service === undefined) return [];
    const message = `the service "${name}" is for "${user}", which is a service`;
    return { code: "service-of-service", message, place, help: "a service uses no other service" };
  });
}
