// A headless Chromium for tests of pages: the machine's own, since the registries have none.
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

const chromiumPath = [process.env.MLRB_CHROMIUM ?? "", ...places].find((path) => existsSync(path));

/** The reason to skip such tests, or false. */
export const noChromium: string | false =
  chromiumPath === undefined &&
  "no Chromium: install Debian's package chromium, or name one in MLRB_CHROMIUM";

export function startBrowser(): Promise<Browser> {
  // Chromium refuses its sandbox as root, as in CI; the pages are trusted
  return chromium.launch({ executablePath: chromiumPath!, args: ["--no-sandbox"] });
}
