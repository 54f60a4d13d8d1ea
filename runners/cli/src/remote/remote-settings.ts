// The remote cache of a run, from --remote-cache and variables. A token and the path of a key are no options,
// because every user of a machine can read the arguments of its programs.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import type { RemoteSettings } from "@mlrb/local/remote/remote-cache";
import type { RemoteAddress } from "@mlrb/local/remote/remote-client";
import { makeRunKey } from "@mlrb/local/signatures/run-key";
import type { RemoteMode } from "../request/run-invocation.ts";

/** `state`: the folder `.mlrb`. Undefined without a remote cache. With a key it asks for the key's passphrase. */
export function remoteSettings(
  mode: RemoteMode | undefined,
  { env, state }: { env: NodeJS.ProcessEnv; state: string },
): RemoteSettings | Diagnostic | undefined {
  const { MLRB_REMOTE_CACHE: address = "", MLRB_REMOTE_CACHE_KEY: key = "" } = env;
  if (mode === "off" || (address === "" && mode === undefined)) return undefined;
  if (address === "")
    return problem(
      "no-remote-cache",
      `--remote-cache ${mode} names no server`,
      "set MLRB_REMOTE_CACHE to its address, e.g. https://cache.lab/mlrb",
    );
  const found = remoteAddressOf(address, env);
  if ("code" in found) return found;
  const signers = resolve(env.MLRB_REMOTE_CACHE_SIGNERS || join(state, "cache_signers"));
  const mayWrite = mode !== "read" && key !== "";
  if (mode === "read-write" && key === "")
    return problem(
      "no-signing-key",
      "--remote-cache read-write needs a key that signs the results",
      "set MLRB_REMOTE_CACHE_KEY to an SSH key; `ssh-keygen -t ed25519 -f KEY` makes one",
    );
  if (!mayWrite && !existsSync(signers))
    return problem(
      "no-cache-signers",
      `no result can be taken: there is no ${signers}`,
      'write the file, a line `NAME namespaces="mlrb" PUBLIC-KEY` for each signer whom you trust, or set MLRB_REMOTE_CACHE_SIGNERS',
    );
  const settings = { ...found, signers };
  if (!mayWrite) return settings;
  const runKey = makeRunKey(key);
  if ("kind" in runKey) return problem(runKey.code, runKey.message, runKey.help);
  return { ...settings, runKey };
}

function remoteAddressOf(address: string, env: NodeJS.ProcessEnv): RemoteAddress | Diagnostic {
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "")
    return problem(
      "bad-remote-cache",
      "MLRB_REMOTE_CACHE is no address of a server",
      "write one such as https://cache.lab/mlrb, without a query",
    );
  if (url.username !== "" || url.password !== "")
    return problem(
      "bad-remote-cache",
      "MLRB_REMOTE_CACHE holds a user or a password, which logs would show",
      'set MLRB_REMOTE_CACHE_TOKEN instead: a bearer token, or "Basic " and base64 of user:password',
    );
  const token = env.MLRB_REMOTE_CACHE_TOKEN || undefined;
  if (token !== undefined && !/^[\x21-\x7e]+( [\x21-\x7e]+)?$/.test(token))
    return problem(
      "bad-remote-token",
      "MLRB_REMOTE_CACHE_TOKEN has characters that no header may have",
      "set it to the token alone, without a line break",
    );
  return { url, token };
}

function problem(code: string, message: string, help: string): Diagnostic {
  return { code, message, help };
}
