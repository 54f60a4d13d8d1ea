// The remote cache in `pipeline doctor`: whether it is set, may be used and answers.
import { existsSync } from "node:fs";
import { probeRemote } from "@mlrb/local/remote/probe-remote";
import { type Check, note, works } from "../gates/check.ts";
import { remoteSettings } from "./remote-settings.ts";

const name = "remote cache";

/** Empty where no remote cache is set. A run works without one, so nothing of it is ever missing. */
export async function remoteChecks(at: {
  env: NodeJS.ProcessEnv;
  state: string;
  probe?: typeof probeRemote;
}): Promise<Check[]> {
  const { env, state, probe = probeRemote } = at;
  if (!env.MLRB_REMOTE_CACHE) return [];
  // without the key: a run asks for its passphrase, this command does not
  const settings = remoteSettings("read", { env, state });
  if (settings === undefined) return [];
  if ("code" in settings) return [note(name, settings.message, settings.help)];
  const { host } = settings.url;
  const trouble = await probe(settings);
  if (trouble !== undefined)
    return [note(name, `${host}: ${trouble}`, "runs go on without it; is the address right, and the token?")];
  const { MLRB_REMOTE_CACHE_KEY: key = "" } = env;
  if (key !== "" && !existsSync(key))
    return [
      note(name, `${host} answers, but there is no key ${key}`, "correct MLRB_REMOTE_CACHE_KEY, or unset it"),
    ];
  return [works(name, `${host}: results are taken${key === "" ? "" : " and sent"}`)];
}
