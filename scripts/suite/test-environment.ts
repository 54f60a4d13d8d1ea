// The environment of every test file, independent of the terminal, locale and time zone of the user or machine. A
// test that needs another value sets it.

/** Fixed values of variables that programs may read. */
const fixed = { TERM: "dumb", LANG: "C.UTF-8", LC_ALL: "C.UTF-8", TZ: "UTC" };

/** Variables that may differ between machines: paths, access to package indexes, settings of the suite. */
const passed =
  /^(PATH|HOME|TMPDIR|UPDATE_GOLDEN|DOCKER_HOST|MLRB_(SWEEP|TEST_\w+)|NODE_EXTRA_CA_CERTS|(PIP|UV|SSL|REQUESTS|CURL_CA|npm_config)_\w+|\w+_proxy)$/i;

/** The passed variables of `given`, the fixed values, and `own`, which has precedence. */
export function testEnvironment(
  given: Record<string, string | undefined>,
  own: Record<string, string> = {},
): Record<string, string> {
  const kept = Object.entries(given).filter(
    (entry): entry is [string, string] => passed.test(entry[0]) && entry[1] !== undefined,
  );
  return { ...Object.fromEntries(kept), ...fixed, ...own };
}
