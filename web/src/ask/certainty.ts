/** How sure a reply is, in words. */
import type { Certainty } from "../api/types";
import { grouped } from "../parts/text";

export function certaintyText(certainty: Certainty): string {
  switch (certainty.kind) {
    case "exact":
      return certainty.within > 0 ? `proven exact to ${certainty.within.toExponential(0)}` : "proven exact";
    case "beam":
      return `the best of a beam of ${grouped(certainty.k)}${certainty.settled ? ", same as with a narrower beam" : ""}`;
    case "continuous":
      return `continuous, ${grouped(certainty.steps)} steps${certainty.at_rest ? "" : ", not yet converged"}`;
    case "stopped":
      return `stopped ${{ time: "when the time was up", rows: "at the limit of rows", asked: "as asked", memory: "at the limit of memory" }[certainty.by]}: the best so far`;
  }
}

/** What the certainty means for somebody who relies on the answers. */
export function certaintyMeaning(certainty: Certainty): string {
  switch (certainty.kind) {
    case "exact":
      return certainty.within > 0
        ? `Nothing that the search left out can change these answers, or their scores by more than ${certainty.within.toExponential(0)}.`
        : "Nothing that the search left out can change these answers or their scores.";
    case "beam":
      return "The search kept the best assignments only. A better answer may have been left out; the search “exact” goes on until that is ruled out.";
    case "continuous":
      return "Vectors were optimised in place of entities; the answers are the entities nearest to where the vectors converged.";
    case "stopped":
      return "The search ended early. These are the best that it had found.";
  }
}
