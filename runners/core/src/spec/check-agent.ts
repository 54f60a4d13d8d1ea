// Checks an agent's preset beyond its shape: what it names exists, and what an attempt would refuse is refused
// here. A field of a wrong shape is reported elsewhere and left out here.
import { scaffoldVersions } from "@mlrb/formats/declared/scaffold-versions";
import { isTable } from "@mlrb/formats/is-table";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { didYouMean } from "../yaml/suggest.ts";
import { unclosedMessage, unclosedPlaceholder } from "../yaml/template.ts";
import type { Path, YamlSource } from "../yaml/yaml-source.ts";
import { checkImage, checkNamedPath } from "./check-declared-file.ts";
import type { Sources } from "./sources.ts";

const paths = {
  environment: ["file"],
  program: ["file", "dir"],
  library: ["dir"],
  recording: ["dir"],
} as const;

/** `lost`: the fields whose value is not known. */
export function checkAgent(source: YamlSource, sources: Sources, lost: ReadonlySet<string>): Diagnostic[] {
  const preset = source.value as Record<string, unknown>;
  const problems: Diagnostic[] = [];
  const report = (field: string, check: (value: string) => Diagnostic | undefined) => {
    const value = preset[field];
    const problem = typeof value === "string" && value !== "" ? check(value) : undefined;
    if (problem) problems.push({ ...problem, place: source.place([field]) });
  };
  for (const [field, kinds] of Object.entries(paths))
    report(field, (path) => checkNamedPath(path, kinds, sources));
  report("image", (image) => checkImage(image, sources));
  problems.push(...checkScaffold(source, preset), ...unclosed(preset, [], source));
  if (!lost.has("secrets")) problems.push(...checkKeys(source, preset));
  return problems;
}

function checkScaffold(
  source: YamlSource,
  { kind, scaffold = "react", scaffoldVersion: asked = 1 }: Record<string, unknown>,
) {
  const which = kind === "llm" ? scaffold : kind;
  // a replay under another scaffold than its recording's reports the first request that differs
  const there = Object.entries(scaffoldVersions).find(([name]) => name === which)?.[1];
  if (there === undefined || !Number.isInteger(asked) || asked === there) return [];
  return [
    {
      code: "scaffold-version",
      message: `the preset is for version ${asked} of the ${which} scaffold, and this program has version ${there}`,
      place: source.place(["scaffoldVersion"]),
      help: `write scaffoldVersion: ${there}: earlier attempts become stale, because their agents ran under another scaffold`,
    },
  ];
}

function checkKeys(source: YamlSource, preset: Record<string, unknown>): Diagnostic[] {
  const gateway: unknown[] = Array.isArray(preset.gateway) ? preset.gateway : [];
  const holders: [Path, unknown][] = [
    [["model"], preset.model],
    [["planner"], preset.planner],
    ...gateway.map((one, at): [Path, unknown] => [["gateway", at], one]),
  ];
  const secrets: unknown[] = Array.isArray(preset.secrets) ? preset.secrets : [];
  return holders.flatMap(([path, holder]) => {
    const key = isTable(holder) ? holder.key : undefined;
    if (typeof key !== "string" || secrets.includes(key)) return [];
    const known = secrets.filter((one) => typeof one === "string");
    return {
      code: "unknown-secret",
      message: `the key ${key} is not among the secrets of the preset, so that no attempt gets it`,
      place: source.place([...path, "key"]),
      help: known.length === 0 ? `write secrets: [${key}]` : didYouMean(key, known),
    };
  });
}

/** An attempt's axes and services are filled in; other braces belong to the agent's command. */
function unclosed(value: unknown, path: Path, source: YamlSource): Diagnostic[] {
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([step, inner]) =>
      unclosed(inner, [...path, Array.isArray(value) ? Number(step) : step], source),
    );
  if (typeof value !== "string") return [];
  const name = unclosedPlaceholder(value, (one) => /^(?:task|seed|agent|services\..+)$/.test(one));
  if (name === undefined) return [];
  const place = source.placeOf(path, `{${name}`);
  return [{ code: "unknown-placeholder", message: `{${name}: ${unclosedMessage}`, place }];
}
