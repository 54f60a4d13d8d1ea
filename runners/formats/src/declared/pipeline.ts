// The format of pipelines, pipelines/NAME.yaml. It checks shapes. Names, units and edges are checked later, with
// better messages than a schema can give.
import * as t from "../schema.ts";
import { execution, stageExecution } from "./stage-execution.ts";
import { service } from "./stage-service.ts";

const variable = {
  type: "string",
  pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
  description: "an environment variable",
  patternErrorMessage: "letters, digits and _, not a digit first",
} as const;
const role = { type: "string", pattern: "^[a-z][a-z0-9-]*$" } as const;
const scalar = { type: ["string", "integer"] } as const;
const names = { ...t.list, uniqueItems: true } as const;

function table<const Value>(values: Value, description: string) {
  return { ...t.tableOf(values), propertyNames: t.declaredName, description } as const;
}

const values = { ...t.listOf(scalar), uniqueItems: true } as const;

const axis = t.eitherType(
  t.about(
    values,
    "empty: its stages have no instances, and what collects them gathers nothing; --set fills it",
  ),
  t.closedObject(
    {
      of: t.about(t.text, "the axis whose manifests list the values"),
      field: t.about(
        t.text,
        "the field that lists them, e.g. scorers.{params.data}; by default the axis' name with an s",
      ),
      default: t.about(
        { ...values, minItems: 1 },
        "the list of a manifest that has none; --set then chooses for all",
      ),
    },
    ["of"],
  ),
);
const axes = table(axis, "Named lists that stages fan out over.");

const allowances = table(
  t.partialObject({
    time: t.about({ type: "number", exclusiveMinimum: 0 }, "times the time of the attempt"),
    machines: t.about(t.positiveInteger, "times its CPUs, memory and GPUs"),
    dollars: t.about(
      { type: ["number", "string"], exclusiveMinimum: 0 },
      "in place of its limit in dollars. Counts machine hours too, where budget.dollarsPerMachineHour is set",
    ),
  }),
  "Other limits for an attempt: AGENT+ALLOWANCE is an agent of its own.",
);

const params = table(t.json, "The stage's parameters: JSON values; text may hold {placeholders}.");

const pools = {
  type: "object",
  propertyNames: {
    type: "string",
    pattern: "^[A-Za-z0-9][A-Za-z0-9:._/-]*\\*?$",
    description: "a pool",
    patternErrorMessage: "letters, digits and : . _ - /, no sign first, a * at the end",
  },
  additionalProperties: t.positiveInteger,
  description:
    'Size of each pool of something other than hardware, e.g. concurrent calls: { "api:openai": 4, "api:*": 2 }; PREFIX* is a pool for each name with this prefix.',
} as const;

const output = t.eitherType(
  t.anyText,
  t.partialObject({
    file: {
      type: ["boolean", "string"],
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
      patternErrorMessage: "a file's name: letters, digits, dots and dashes, no folder",
      description: "It is a file, of this name.",
    },
    dir: t.about({ const: true }, "It is a folder."),
    private: t.about(t.flag, "Agents may never read it."),
    added: t.about(
      t.flag,
      "Of attempts: a later version added it, so records without it stay valid, and stages that need it run without it.",
    ),
  }),
);

export const stageSpec = t.about(
  t.partialObject({
    title: t.about(t.text, "what it does, for people"),
    like: t.about(t.text, "A stage whose settings it takes over, except those that it sets itself."),
    role: t.about(
      role,
      "The role of its results for stages that collect them, e.g. score or verdict; outside the action key.",
    ),
    each: t.about(names, "The axes it fans out over."),
    keyed: t.about(names, "The axes it can see; by default all of `each`."),
    when: t.about(
      t.eitherType(t.text, names),
      "A field, e.g. {task.promptDigest.{params.data}}, or a list of fields. Instances for which one is empty, false or missing are not planned, and stages that need them get no such input.",
    ),
    script: t.about(t.text, "A TypeScript file, run by Node."),
    python: t.about(t.text, "A Python file, run in the stage's environment."),
    command: t.about(
      t.eitherType(t.text, { ...t.listOf(t.anyText), minItems: 1 }),
      "A shell command, or a program and its arguments.",
    ),
    service,
    needs: t.about(
      t.eitherType(names, { ...t.tableOf(t.text), propertyNames: t.declaredName }),
      "Artifacts it reads, as stage.output; a table gives them other names.",
    ),
    collect: t.about(
      names,
      "Artifacts it gathers over the axes it lacks, failed ones included; digest(stage.output) if the digest is enough.",
    ),
    roles: t.about(
      { ...names, items: role },
      "The roles that it needs among the stages that it collects, each of exactly one stage.",
    ),
    gives: table(output, "Its outputs: file, dir, or a table with private."),
    params,
    files: t.about(names, "Files it reads or runs besides its script; patterns allowed."),
    env: t.about(
      { ...t.tableOf(scalar), propertyNames: variable },
      "Environment variables; part of the action key.",
    ),
    secrets: {
      anyOf: [
        { ...names, items: variable },
        {
          type: "string",
          pattern: "^\\{[a-z][\\w.-]*\\}$",
          patternErrorMessage: "a field, e.g. {agent.secrets}",
        },
      ],
      description:
        "Environment variables that are passed on and never keyed, logged or printed. May be a field that lists them.",
    },
    secretSeed: t.about(
      t.flag,
      "It gets a seed for random choices that agents must not foresee, made from the state folder's secret; outside the action key.",
    ),
    hub: t.about(
      t.flag,
      "It downloads from a hub: it gets HF_ENDPOINT, HF_HUB_OFFLINE, and HF_HOME as a folder that outlives it; outside the action key.",
    ),
    paidAnswers: t.about(
      t.flag,
      "It pays for answers of a model: it gets MLRB_ANSWERS, a folder that outlives it, and MLRB_PURSE, with the limit of --max-cost; plans count the most that it can cost. Outside the action key.",
    ),
    withholds: t.about(
      t.flag,
      "Its output says what a gateway for downloads does not serve. It has instances only where a stage that collects it has network: hub.",
    ),
    retries: t.about(
      { type: "integer", minimum: 0, maximum: 10 },
      "How often it is retried after a failure of the machine; its own failures are not retried.",
    ),
    environment: t.about(t.text, "A Python lock file."),
    programs: t.about(
      { type: ["boolean", "string"] },
      "Whether its script may start programs or load native code; outside the action key. May be a field: {scorer.programs}.",
    ),
    durable: t.about(t.flag, "Its results are records, not cache entries."),
    startAfter: t.about(
      names,
      "Stages that must have succeeded before an instance starts, at its values of their axes; not before a reuse. Outside the action key. --skip-reference-models leaves them out.",
    ),
    needsCheck: t.about(
      { type: ["boolean", "string"] },
      "Whether tables mark an instance if the plan has no instance of `startAfter`. May be a field: {params.checked}.",
    ),
    untrusted: t.about(t.flag, "Runs untrusted code: may need public artifacts only."),
    opens: t.about(
      t.oneOf("untrusted"),
      "untrusted: it opens files that untrusted code made, so it runs inside walls, without a network; outside the action key.",
    ),
    hostSensitive: t.about(
      { type: ["boolean", "string"] },
      "Its results depend on the machine. May be a field: {scorer.hostSensitive}.",
    ),
    group: t.about(t.text, "Under this name plan, status and graph count it with others, unless --all asks."),
    releases: t.about(names, "Outputs that are public although the stage reads private artifacts."),
    ...stageExecution,
  }),
  "A step: what it runs, its inputs and its outputs.",
);

const profile = t.partialObject({
  default: t.about(t.flag, "Whether it is used where the command line names no profile."),
  title: t.title,
  extends: t.about(t.text, "The profile whose settings it takes over, except those that it sets."),
  onStale: t.about(
    t.oneOf("leave", "rerun"),
    "Whether stale attempts are left or run again; left by default.",
  ),
  diagnose: t.about(
    t.flag,
    "Whether a run writes a diagnostic bundle at its end, as `pipeline diagnose` does; in no key.",
  ),
  weakLimits: t.about(
    t.flag,
    "Whether untrusted agents may run in bubblewrap where no kernel limit holds their memory, as with --weak-limits; outside every key, and shown in the attempt's row.",
  ),
  takes: table(
    t.duration,
    "Roughly how long an instance of each stage takes on two cores, for the order and the estimates of runs until it has run here. Profiles that extend this one do not take it over.",
  ),
  reported: t.about(
    t.wholeObject({ dollars: t.number, source: t.text }),
    "What an attempt under these conditions cost somebody else, which plan prints; for this profile alone, in no key.",
  ),
  axes,
  params,
  pools,
  stages: t.about(
    t.tableOf(t.partialObject(stageExecution)),
    "Execution settings of single stages, by name.",
  ),
  ...execution,
});

const properties = {
  formatVersion: t.formatVersionOne,
  name: t.about(t.declaredName, "the name of its file, and of the pipeline in commands"),
  title: t.title,
  extends: t.about(
    t.text,
    "The name of a YAML pipeline in the same folder. Its axes, parameters, pools, profiles and stages are taken over, except those that are declared here.",
  ),
  axes,
  allowances,
  params,
  pools,
  defaults: t.about(
    t.partialObject(execution),
    "Execution settings of every stage that does not set its own.",
  ),
  profiles: table(profile, "Named sets of overrides."),
  stages: { ...table(stageSpec, "The steps, by name."), minProperties: 1 },
} as const;

/** A pipeline with everything that it takes over from others. */
export const pipelineSpec = t.closedObject(properties, ["formatVersion", "name", "stages"]);

/** A pipeline as it is written. */
export const pipelineFile = t.fileFormat("mlrb pipeline", {
  ...t.closedObject(properties, ["formatVersion", "name"]),
  anyOf: [{ required: ["stages"] }, { required: ["extends"] }],
});

// the placeholders in them are not filled in yet
export type PipelineSpec = t.TypeOf<typeof pipelineSpec>;
export type ProfileSpec = t.TypeOf<typeof profile>;
export type StageSpec = t.TypeOf<typeof stageSpec>;
export type GivesSpec = t.TypeOf<typeof output>;
/**
 * A list of values, or the values that the manifest of another axis lists (`{ of: task }`), by default under the
 * axis' name with an s. `field` names another place and may hold parameters: `scorers.{params.data}`. `default` is
 * the list of a manifest that has none there.
 */
export type AxisSpec = t.TypeOf<typeof axis>;
export type Scalar = t.TypeOf<typeof scalar>;
export type PoolsSpec = t.TypeOf<typeof pools>;
/** Where and within which limits a stage runs. Only `image` and `budget` are in action keys. */
export type ExecutionSpec = Pick<StageSpec, keyof typeof stageExecution>;
export type AllowanceSpec = NonNullable<PipelineSpec["allowances"]>[string];
export type ServiceSpec = NonNullable<StageSpec["service"]>;
export type SlurmSettings = NonNullable<ExecutionSpec["slurm"]>;
export type ResourcesSpec = NonNullable<ExecutionSpec["resources"]>;
/** The network that a stage's processes can reach: none but the machine itself, all, or a gateway for downloads. */
export type Network = NonNullable<ExecutionSpec["network"]>;
