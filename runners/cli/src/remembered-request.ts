// The plan for commands that look again and again: remembered with what it was made from, and taken from
// there while all of that looks the same. Parsing and checking YAML is most of what such a command would
// do. A run never takes it from here; what is shown is decided on the plan as ever.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Plan } from "@mlrb/core/plan";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { Consulted } from "@mlrb/local/consulted";
import { looksTheSame, type Seen, seenBy } from "@mlrb/local/seen";
import { type PackedPlan, packPlan, unpackPlan } from "./packed-plan.ts";
import type { CommonOptions } from "./request.ts";
import { rootOf, typedIn } from "./root-of.ts";

export type Looked = { plan: Plan; selected: number[]; root: string };

type Remembered = Seen & { formatVersion: 1; node: string; plan: PackedPlan; selected: number[] };

/** How many plans are kept: each is what somebody looks at, not a result. */
const keptMax = 40;

/** A larger one takes as long to read as to make, and tens of megabytes of disk. */
const instancesMax = 10_000;

/** The plan that was asked for; undefined after the problems were printed. */
export async function rememberedRequest(
  repository: string,
  pipeline: string,
  options: CommonOptions,
): Promise<Looked | undefined> {
  const root = rootOf(repository, options.root);
  const { profile, only, set, executor } = options;
  const from = /[/\\.]/.test(pipeline) ? typedIn() : "";
  const asked = canonicalJson({ repository, pipeline, from, profile, only, set, executor });
  const folder = join(root, ".mlrb", "cache", "memory", "plans");
  const file = join(folder, `${createHash("sha256").update(asked).digest("hex").slice(0, 24)}.json`);
  const held = remembered(file);
  if (held && looksTheSame(repository, held))
    return { plan: unpackPlan(held.plan), selected: held.selected, root };
  const consulted = new Consulted(repository);
  const { readRequest } = await import("./request.ts");
  const request = await readRequest(repository, pipeline, options, consulted);
  if (!request) return undefined;
  const { plan, selected } = request;
  // a pipeline that is a program may look at anything
  const scripted = [...consulted.files.keys()].some((path) => /^pipelines\/[^/]+\.ts$/.test(path));
  const seen = scripted ? undefined : seenBy(consulted);
  if (seen && plan.instances.length <= instancesMax && existsSync(join(root, ".mlrb"))) {
    remember(folder, file, {
      formatVersion: 1,
      node: process.version,
      ...seen,
      plan: packPlan(plan),
      selected,
    });
  }
  return { plan, selected, root };
}

function remembered(file: string): Remembered | undefined {
  try {
    const held = JSON.parse(readFileSync(file, "utf8")) as Remembered;
    return held.formatVersion === 1 && held.node === process.version ? held : undefined;
  } catch {
    return undefined; // not yet, or torn
  }
}

function remember(folder: string, file: string, held: Remembered): void {
  try {
    mkdirSync(folder, { recursive: true });
    if (readdirSync(folder).length >= keptMax) rmSync(folder, { recursive: true });
    mkdirSync(folder, { recursive: true });
    writeWhole(file, JSON.stringify(held), { sync: false });
  } catch {
    // it only saves time
  }
}
