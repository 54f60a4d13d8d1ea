// Performance profiles for a paper: the page's figures under the names that readers know.
import type { Report } from "@mlrb/formats/report";
import { profileGroups, profileSvg } from "../page/charts/profiles.ts";
import { displayNames } from "./display-names.ts";
import { drawnWidth, figurePdf, inPairs } from "./pdf-figure.ts";

/** figures/profiles.pdf; undefined without profiles. */
export async function profilesFigure(report: Report): Promise<Buffer | undefined> {
  const { agent: name } = displayNames(report);
  const drawn = profileGroups(report).map((profiles) =>
    profileSvg(report, profiles, { width: drawnWidth / 2, name }),
  );
  return drawn.length === 0 ? undefined : figurePdf(report, inPairs(drawn));
}
