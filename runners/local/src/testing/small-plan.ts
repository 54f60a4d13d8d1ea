// Small plans and workspaces for unit tests of the runner's decisions. A test sets the fields under test; all
// others have plain defaults.
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import {
  type ActionSpec,
  type Execution,
  environmentStage,
  type Instance,
  instanceId,
  type OutputKind,
  type Plan,
  type PlannedStage,
} from "@mlrb/core/plan/plan";
import type { Scalar } from "@mlrb/formats/declared/pipeline";
import { openWorkspace, type Workspace } from "../store/workspace.ts";

export type SmallStage = {
  name: string;
  axes?: Record<string, Scalar>;
  keyed?: string[];
  /** By input name: `ID.OUTPUT` of an earlier instance. */
  needs?: Record<string, string>;
  /** `ID.OUTPUT`, or `#ID.OUTPUT` for its digest only. */
  collect?: string[];
  gives?: Record<string, OutputKind>;
  /** File names of outputs; by default the output's name. */
  files?: Record<string, string>;
  /** Runs in the environment that an earlier stage builds. */
  environment?: true;
  action?: Partial<ActionSpec>;
  execution?: Partial<Omit<Execution, "resources">> & { resources?: Partial<Execution["resources"]> };
} & Partial<Pick<PlannedStage, "durable" | "untrusted" | "opens" | "publishes">>;

export function smallPlan(...stages: SmallStage[]): Plan {
  const instances: Instance[] = [];
  const source = (from: string) => {
    const [id, output] = from.replace("#", "").split(".") as [string, string];
    const index = instances.findIndex((one) => one.id === id);
    if (index < 0) throw new Error(`no instance ${id} comes before`);
    return { index, output, stage: instances[index]!.stage.name };
  };
  for (const one of stages) {
    const { axes = {}, needs = {}, collect = [], gives = { out: "file" } } = one;
    const sources = Object.entries(needs).map(([name, from]) => ({ name, ...source(from) }));
    const collected = collect.map((from) => ({
      ...source(from),
      ...(from.startsWith("#") && { digestOnly: true as const }),
    }));
    const builder = instances.findIndex(({ stage }) => stage.name === environmentStage);
    instances.push({
      index: instances.length,
      id: instanceId(one.name, axes),
      stage: {
        name: one.name,
        each: Object.keys(axes),
        keyed: one.keyed ?? Object.keys(axes),
        needs: sources.map(({ name, stage, output }) => ({ name, stage, output })),
        collect: collected.map(({ stage, output }) => ({ name: output, stage, output })),
        gives: Object.entries(gives).map(([name, kind]) => ({
          name,
          file: one.files?.[name] ?? name,
          kind,
          private: false,
        })),
        durable: one.durable ?? false,
        untrusted: one.untrusted ?? false,
        ...(one.opens !== undefined && { opens: one.opens }),
        publishes: one.publishes ?? false,
        spec: {},
      } as PlannedStage,
      axes,
      inputs: sources.map(({ name, index, output }) => ({ name, from: index, output })),
      members: collected.map(({ index, output, digestOnly }) => ({
        from: index,
        output,
        ...(digestOnly && { digestOnly }),
      })),
      ...(one.environment && { environment: builder }),
      action: {
        run: { kind: "command", command: ["fake", one.name] },
        params: {},
        files: [],
        env: {},
        secrets: [],
        budget: {},
        hostSensitive: false,
        ...one.action,
      },
      execution: {
        executor: "local",
        limits: {},
        retries: 0,
        ...one.execution,
        resources: { cpus: 1, memoryBytes: 0, gpus: 0, pools: {}, ...one.execution?.resources },
      },
    });
  }
  return {
    pipeline: "small",
    title: "Small",
    profile: "smoke",
    profiles: ["smoke"],
    pools: {},
    selection: "",
    onStale: "leave",
    weakLimits: false,
    diagnose: false,
    takesMs: {},
    stages: [...new Set(instances.map(({ stage }) => stage))],
    instances,
  };
}

export type Home = {
  root: string;
  /** Writes a file of the repository. `root` is the root of the repository and of the state. */
  write(path: string, text: string): void;
  /** Opens the state as a new process would, with nothing in memory. */
  open(): Workspace;
};

export function home(t: TestContext): Home {
  const root = mkdtempSync(join(tmpdir(), "mlrb-small-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  return {
    root,
    write(path, text) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    open: () => openWorkspace({ repository: root, root, pipeline: "small", profile: "smoke" }),
  };
}

/** Records that this machine has no Python: a search for Python would take most of a test's time. */
export function withoutPython(at: Home): void {
  const { state } = at.open();
  const { size, mtimeMs } = statSync(process.execPath);
  const python = { path: process.execPath, version: "3.12.0", stat: `${size} ${mtimeMs}` };
  writeFileSync(join(state.memory, "python.json"), JSON.stringify(python));
}
