import { sandboxSuite } from "../../../../tests/support/sandboxes/sandbox-suite.ts";
import { bubblewrapMissing } from "./bubblewrap-abilities.ts";

sandboxSuite({
  name: process.getuid?.() === 0 ? "bubblewrap under root" : "bubblewrap under an ordinary user",
  maker: new URL("../testing/bubblewrap-maker.ts", import.meta.url).href,
  skip: await bubblewrapMissing(),
});
