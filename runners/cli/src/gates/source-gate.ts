// Refuses a run that would download a source which is not locked, or whose licence no person accepted, before anything
// starts.
import { createRequire } from "node:module";
import type { Instance } from "@mlrb/core/plan/plan";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { type Preview, previewPlan } from "@mlrb/local/decide/preview-plan";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import type { Request } from "../request/request.ts";
import { isAccepted, readConsents } from "../sources/consents.ts";
import type { DeclaredSource } from "../sources/declared-sources.ts";
import { type Gate, type ProfiledPlan, profilesWhere, startedIn } from "./gate.ts";

// What reads YAML is loaded only for a plan that downloads something.
const require = createRequire(import.meta.url);

/** Why the run may not start; empty if it may. */
export async function sourceGate(request: Request, gate: Gate): Promise<Diagnostic[]> {
  const { plan, selected } = request;
  if (!selected.some((index) => downloadedBy(plan.instances[index]!) !== undefined)) return [];
  const { previews } = await previewPlan(plan, selected, gate);
  return sourceProblems(request, previews, gate);
}

/** The problems of starting `previews`. */
export function sourceProblems(
  request: ProfiledPlan,
  previews: Pick<Preview, "index" | "action" | "onStale">[],
  { workspace }: Gate,
): Diagnostic[] {
  const downloads = toDownload(request, previews, workspace.repository);
  if ("problems" in downloads) return downloads.problems;
  const { sources } = downloads;
  const consents = readConsents(workspace.state.state);
  const { open, unread } = lacking(sources, consents);
  return [
    ...(open.length > 0 ? [unresolved(open, request)] : []),
    ...(unread.length > 0 ? [notAccepted(unread)] : []),
    ...shownPassword(request, previews),
  ];
}

/** The command line that creates a container shows the values of proxies to every user of the machine. */
function shownPassword(
  { plan }: Pick<ProfiledPlan, "plan">,
  previews: Pick<Preview, "index" | "action" | "onStale">[],
): Diagnostic[] {
  const inContainers = startedIn(previews).some(({ index }) => {
    const instance = plan.instances[index]!;
    return downloadedBy(instance) !== undefined && instance.execution.executor !== "local";
  });
  const proxy = Object.keys(process.env).find(
    (name) => /^(https?|all)_proxy$/i.test(name) && process.env[name]!.includes("@"),
  );
  if (!inContainers || proxy === undefined) return [];
  return [
    {
      code: "shown-password",
      message: `${proxy} holds a password, and the command that starts a container would show it to other users`,
      help: "download with --only download --executor local first, or use a proxy without a password",
    },
  ];
}

/** The sources that starting `previews` downloads, each once. */
export function toDownload(
  { plan }: Pick<ProfiledPlan, "plan">,
  previews: Pick<Preview, "index" | "action" | "onStale">[],
  repository: string,
): { sources: DeclaredSource[] } | { problems: Diagnostic[] } {
  const names = startedIn(previews).flatMap(({ index }) => downloadedBy(plan.instances[index]!) ?? []);
  if (names.length === 0) return { sources: [] }; // without names all would be declared
  const { declaredSources } =
    require("../sources/declared-sources.ts") as typeof import("../sources/declared-sources.ts");
  return declaredSources([...new Set(names)].sort(), sourceFiles(repository));
}

/** The source that a stage of a hub downloads. */
export function downloadedBy({ stage, axes }: Instance): string | undefined {
  return stage.spec.hub ? String(axes.source) : undefined;
}

/** Names of the sources that are not locked (`open`), and of those whose licence no person accepted (`unread`). */
export function lacking(
  sources: DeclaredSource[],
  consents: ReturnType<typeof readConsents>,
): { open: string[]; unread: string[] } {
  const where = (lacks: (source: DeclaredSource) => boolean) =>
    sources.filter(lacks).map(({ manifest }) => manifest.name);
  return {
    open: where(({ state }) => state.kind !== "resolved"),
    unread: where(
      ({ manifest, state }) => state.kind === "resolved" && !isAccepted(manifest.name, state.entry, consents),
    ),
  };
}

function unresolved(names: string[], request: ProfiledPlan): Diagnostic {
  const without = profilesWhere(request, ({ plan, selected }) =>
    selected.every((index) => downloadedBy(plan.instances[index]!) === undefined),
  ).join(", ");
  return {
    code: "unresolved-source",
    message: `${names.join(", ")}: the commit and the files are not locked in sources.lock.yaml, so nothing says what would be downloaded`,
    help: `\`pnpm pipeline sources lock ${names.join(" ")}\` resolves them, on a machine that reaches the hub${without === "" ? "" : `; without downloads: ${without}`}`,
  };
}

function notAccepted(names: string[]): Diagnostic {
  return {
    code: "not-accepted",
    message: `${names.join(", ")}: no person accepted the licence here`,
    help: `\`pnpm pipeline sources accept ${names.join(" ")}\` shows licences and terms, and records that you accept them`,
  };
}
