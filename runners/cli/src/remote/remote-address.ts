// The remote cache that the variables name: its address, and the token for it.
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import type { RemoteAddress } from "@mlrb/local/remote/remote-client";

/** Undefined without a server. */
export function remoteAddressOf(env: NodeJS.ProcessEnv): RemoteAddress | Diagnostic | undefined {
  const { MLRB_REMOTE_CACHE: address = "" } = env;
  if (address === "") return undefined;
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

export function problem(code: string, message: string, help: string): Diagnostic {
  return { code, message, help };
}
