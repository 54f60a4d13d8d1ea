// Translates pip's settings for uv, which resolves locks and does not read them: users configure a proxy or a
// mirror for pip. A lock lists all files of a release, so sources that only add files on this machine (extra
// indexes, folders of wheels) are ignored, unless pip has no index. Pure.

/** uv's environment variables, from the output of `pip config list`. */
export function uvSettings(pipConfig: string): Record<string, string> {
  const settings: Record<string, string> = {};
  // in pip's order of precedence, the last wins: file for all commands, file for install, environment
  for (const level of ["global", "install", ":env:"]) {
    for (const line of pipConfig.split("\n")) {
      const [, where, name, value] = /^([^.]+)\.([\w-]+)=(.*)$/.exec(line) ?? [];
      if (where === level) settings[name!.replaceAll("_", "-")] = plain(value!);
    }
  }
  const offline = /^(1|true|yes|on)$/i.test(settings["no-index"] ?? "");
  const wanted: Record<string, string | undefined> = {
    UV_DEFAULT_INDEX: offline ? undefined : settings["index-url"],
    UV_NO_INDEX: offline ? "1" : undefined,
    UV_FIND_LINKS: offline ? settings["find-links"]?.split(/\s+/).join(",") : undefined,
    UV_INSECURE_HOST: settings["trusted-host"]?.split(/\s+/).join(" "),
    SSL_CERT_FILE: settings.cert,
    ALL_PROXY: settings.proxy,
  };
  return Object.fromEntries(Object.entries(wanted).filter((one): one is [string, string] => Boolean(one[1])));
}

/** pip prints values like Python literals: in quotes, with escapes. */
function plain(value: string): string {
  const inside = /^(['"])(.*)\1$/.exec(value)?.[2] ?? value;
  return inside.replace(/\\([\\'"nt])/g, (_, char: string) => ({ n: "\n", t: "\t" })[char] ?? char).trim();
}
