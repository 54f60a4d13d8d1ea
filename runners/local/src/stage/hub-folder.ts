// What a stage that downloads from a hub gets of the caller's settings. Its folder outlives the stage, so that a
// download that was killed goes on.
import { join, resolve } from "node:path";
import type { Instance } from "@mlrb/core/plan/plan";
import { inherited, inheritedWithProxy } from "../process/inherited-variables.ts";
import type { Workspace } from "../store/workspace.ts";

/** The settings of hub clients, proxies and certificates. HF_TOKEN is a secret of the stage. */
const passed =
  /^(HF_ENDPOINT|HF_HUB_OFFLINE|SSL_CERT_FILE|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)$|^(https?|no|all)_proxy$/i;

/** What the download gateway of an attempt reads. It has no key. */
const passedToGateway =
  /^(HF_ENDPOINT|PIP_INDEX_URL|MLRB_CODE_HOST|NODE_EXTRA_CA_CERTS)$|^(https?|no)_proxy$/i;

/** For an attempt with `network: hub`: its servers, and the folder in which downloads outlive it. */
export function gatewayVariables(
  { stage, execution }: Instance,
  { state }: Pick<Workspace, "state">,
): Record<string, string> {
  if (!stage.untrusted || execution.network !== "hub") return {};
  return { ...inheritedWithProxy(passedToGateway), MLRB_DOWNLOADS: join(state.state, "downloads") };
}

/** Undefined for other stages. */
export function hubFolder({ stage }: Instance, { state }: Pick<Workspace, "state">): string | undefined {
  if (!stage.spec.hub) return undefined;
  return process.env.HF_HOME ? resolve(process.env.HF_HOME) : join(state.state, "hub");
}

export function hubVariables(instance: Instance, at: Pick<Workspace, "state">): Record<string, string> {
  const folder = hubFolder(instance, at);
  if (folder === undefined) return {};
  return {
    ...inherited(passed),
    HF_HOME: folder,
    ...(!process.env.HF_HOME && { MLRB_HUB_OWN: "1" }), // nothing else uses it
    HF_HUB_DISABLE_TELEMETRY: "1",
    HF_HUB_DISABLE_PROGRESS_BARS: "1",
    HF_HUB_DISABLE_XET: "1", // plain requests continue where a killed one stopped
  };
}
