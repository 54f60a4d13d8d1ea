// A headless Chromium for tests of pages: the machine's own, since none comes from the registries.
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

const chromiumPath = [process.env.MLRB_CHROMIUM ?? "", ...places].find((path) => existsSync(path));

/** Why such tests are skipped; false where they are not. */
export const noChromium: string | false =
  chromiumPath === undefined &&
  "no Chromium: install Debian's package chromium, or name one in MLRB_CHROMIUM";

export function startBrowser(): Promise<Browser> {
  // as root, where CI runs, it wants no sandbox; the pages are our own
  return chromium.launch({ executablePath: chromiumPath!, args: ["--no-sandbox"] });
}
