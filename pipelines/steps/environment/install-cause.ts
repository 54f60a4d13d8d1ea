// Turns the output of venv, of pip, which fetches uv, and of uv into a cause and a remedy. The output itself is in
// the log above it; it is long, and its last line ("No matching distribution") is often not the cause. Pure.

export type InstallContext = {
  /** The lock file as the caller named it. */
  lock: string;
  /** e.g. "Python 3.11.7 on linux x64". */
  machine: string;
  exitCode: number | null;
};

/** The order matters: without a network pip also reports that it found no distribution. */
export function installCause(said: string, context: InstallContext): string {
  const { lock, machine } = context;
  if (/No space left|Errno 28|ENOSPC|Disk quota/i.test(said))
    return "the disk is full; an environment with torch needs about 2 GB, with its CUDA build 6 GB, and as much again for uv's cache (UV_CACHE_DIR) where that is on another disk. Free some space, or choose another --root, and run again";
  if (/ensurepip is not|No module named '?"?(ensurepip|venv)|apt install python3.*-venv/i.test(said))
    return "this Python cannot make environments; install venv (Debian and Ubuntu: apt install python3-venv), or name another Python in MLRB_BASE_PYTHON, and run again";
  // uv unpacks a file while it comes, so a damaged one may fail there, before its hash is known
  if (/DO NOT MATCH THE HASHES|Hash mismatch|Failed to extract/i.test(said)) {
    const named = /^\s+(\S+==\S+?)(?:;.*)? from |Failed to download.* `(\S+==\S+)`/gm;
    const names = [...new Set([...said.matchAll(named)].map((match) => match[1] ?? match[2]))];
    return `the package index sent a file for ${names.join(", ") || "a package"} that ${lock} does not pin. The file was not installed. Either the download was damaged (run again; \`uv cache clean\` if it fails again) or the index serves its own build (use another index, PIP_INDEX_URL). Find out why the hash differs before you pin a new one`;
  }
  if (
    /name resolution|Max retries|NewConnectionError|ConnectionError|ConnectTimeout|ReadTimeout|ProxyError|unreachable|SSLError|Connection refused|Connection broken|IncompleteRead|Failed to fetch|error sending request|error decoding response body/i.test(
      said,
    )
  )
    return "the Python package index cannot be reached; check the network (and PIP_INDEX_URL, https_proxy if you use them) and run again. Nothing else needs the network";
  if (/No matching distribution|Could not find a version|No solution found/i.test(said)) {
    const named = /No matching distribution found for ([^\s;]+)|you require ([^\s,]+)/i.exec(said);
    const name = named?.[1] ?? named?.[2] ?? "a package";
    return `the package index has no build of ${name} for ${machine}; ${lock} is made for Python 3.10 to 3.13 on Linux (x86-64, arm64) and macOS (arm64). Name another Python in MLRB_BASE_PYTHON, or, if PIP_INDEX_URL names an index that lacks the package, another index`;
  }
  return `exit status ${context.exitCode}; its output is above`;
}
