// Translates pip's settings for uv, which does not read them: users configure a proxy or a mirror for pip.
import { existsSync } from "node:fs";

/**
 * uv's environment variables, from the output of `pip config list`. A lock lists all files of a release, so
 * for `resolving` one, sources that only add files on this machine (extra indexes, folders of wheels) are ignored,
 * unless pip has no index. Folders of wheels that are gone are left out, as pip does; uv would stop.
 */
export function uvSettings(
  pipConfig: string,
  purpose: "resolving" | "installing",
  exists: (path: string) => boolean = existsSync,
): Record<string, string> {
  const settings: Record<string, string> = {};
  // in pip's order of precedence, the last wins: file for all commands, file for install, environment
  for (const level of ["global", "install", ":env:"]) {
    for (const line of pipConfig.split("\n")) {
      const [, where, name, value] = /^([^.]+)\.([\w-]+)=(.*)$/.exec(line) ?? [];
      if (where === level) settings[name!.replaceAll("_", "-")] = plain(value!);
    }
  }
  const on = (name: string) => /^(1|true|yes|on)$/i.test(settings[name] ?? "");
  const items = (name: string) => settings[name]?.split(/\s+/) ?? [];
  const links = items("find-links").filter((link) => /^\w+:/.test(link) || exists(link));
  const offline = on("no-index");
  const all = purpose === "installing";
  const wanted: Record<string, string | undefined> = {
    UV_DEFAULT_INDEX: offline ? undefined : settings["index-url"],
    UV_NO_INDEX: offline ? "1" : undefined,
    UV_INDEX: all && !offline ? items("extra-index-url").join(" ") : undefined,
    // pip takes the best file of all indexes, uv by default those of the first index that has the package
    UV_INDEX_STRATEGY: all ? "unsafe-best-match" : undefined,
    UV_FIND_LINKS: all || offline ? links.join(",") : undefined,
    UV_NO_CACHE: all && on("no-cache-dir") ? "1" : undefined,
    UV_HTTP_RETRIES: settings.retries,
    UV_HTTP_TIMEOUT: settings.timeout ?? settings["default-timeout"],
    UV_INSECURE_HOST: items("trusted-host").join(" "),
    SSL_CERT_FILE: settings.cert,
    SSL_CLIENT_CERT: settings["client-cert"],
    ALL_PROXY: settings.proxy,
    UV_SYSTEM_CERTS: "1",
    UV_PYTHON_DOWNLOADS: "never",
    UV_NO_CONFIG: "1",
  };
  return Object.fromEntries(Object.entries(wanted).filter((one): one is [string, string] => Boolean(one[1])));
}

/** pip prints values like Python literals: in quotes, with escapes. */
function plain(value: string): string {
  const inside = /^(['"])(.*)\1$/.exec(value)?.[2] ?? value;
  return inside.replace(/\\([\\'"nt])/g, (_, char: string) => ({ n: "\n", t: "\t" })[char] ?? char).trim();
}
