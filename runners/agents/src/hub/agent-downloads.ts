// The download gateway of one attempt, as programs in its sandbox reach it: unchanged clients of a hub and of a
// package index find it by their variables.
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import { forwardInside } from "../gateway/forward-inside.ts";
import { DownloadAdmission } from "./admit-download.ts";
import { DownloadCache } from "./download-cache.ts";
import { type DownloadEvent, DownloadGateway } from "./download-gateway.ts";
import type { DownloadsRequest } from "./downloads-request.ts";
import { besideHub } from "./hub-request.ts";

/**
 * `env`: variables by which programs find it. `failure` resolves with the error if the record cannot be written.
 * `close` may be called more than once; after it no forwarder starts and no request is answered.
 */
export type AgentDownloads = Awaited<ReturnType<typeof agentDownloads>>;

/** A file is downloaded and searched whole before its first byte is served. */
const patienceSeconds = "3600";

/** To be called before the first program runs. Throws if the sandbox cannot run the forwarder. */
export async function agentDownloads(
  sandbox: Sandbox,
  request: DownloadsRequest,
  attempt: { agent: string; scratch: string; path: string | undefined; write(event: DownloadEvent): void },
) {
  const { cacheFolder, withheld, limits, ...options } = request;
  const { write, ...place } = attempt;
  const { promise: failure, resolve: failed } = Promise.withResolvers<unknown>();
  const admission = new DownloadAdmission(withheld);
  const cache = new DownloadCache(cacheFolder, limits);
  const gateway = new DownloadGateway({ ...options, cache, admission, write, failed });
  const forwarding = await forwardInside(sandbox, {
    ...{ server: gateway.server, what: "download gateway", folder: "downloads", ...place },
  });
  let closing: Promise<void> | undefined;
  const close = () => {
    forwarding.stop();
    closing ??= gateway.close();
    return closing;
  };
  try {
    return { env: downloadVariables(await forwarding.address), failure, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function downloadVariables(address: string): Record<string, string> {
  const beside = `${address}/${besideHub}`;
  return {
    HF_ENDPOINT: address,
    HF_HUB_DISABLE_XET: "1", // a protocol of its own, with other servers
    HF_HUB_DISABLE_TELEMETRY: "1",
    HF_HUB_ETAG_TIMEOUT: "120",
    HF_HUB_DOWNLOAD_TIMEOUT: patienceSeconds,
    PIP_INDEX_URL: `${beside}/simple/`,
    PIP_DEFAULT_TIMEOUT: patienceSeconds,
    PIP_DISABLE_PIP_VERSION_CHECK: "1",
    UV_DEFAULT_INDEX: `${beside}/simple/`,
    UV_INDEX_URL: `${beside}/simple/`, // older versions
    UV_HTTP_TIMEOUT: patienceSeconds,
    MLRB_CODE: `${beside}/github`,
  };
}
