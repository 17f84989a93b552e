/**
 * Questions about the last minutes: the windows that they look at, and how SPARQL says it.
 *
 * *For n minutes* of a number: every reading of the last n minutes says so, and there is one. What is
 * true or false is mostly told when it changes: it is so now, no reading of the last n minutes says
 * otherwise, and either the last one is older than that or another came before it; else a door would
 * be open "for ten minutes" as soon as it is opened. Written so that the gateway's aggregates slide
 * (numbers), and that each reading is looked at once (the others).
 */

import type { Windows } from "../../protocol/subscription";
import { GW } from "../../protocol/terms";

/** How long a question is about: "" is now, `for` all the time, `mean` on average. */
export type Over = "" | "for" | "mean";

/** Minutes that the form offers. */
export const SPANS = [1, 5, 10, 30, 60] as const;

const STREAM = `${GW}observations`;

/** What the question looks at; IRIs, place "" for any. */
export interface Looked {
  property: string;
  place: string;
  over: Over;
  span: number;
}

/** Minutes as ISO 8601 writes them, as the gateway does: whole hours as such. */
export function duration(minutes: number): string {
  return minutes % 60 === 0 ? `PT${minutes / 60}H` : `PT${minutes}M`;
}

/** What a text calls the window of so many minutes. */
export function windowName(minutes: number): string {
  return `urn:window:last-${minutes}-min`;
}

/** The windows of a question by the names that its text has; none where it is about now. */
export function windowsOf({ property, place, over, span }: Looked): Windows {
  if (over === "") return {};
  const narrowed = { stream: STREAM, property: [property], ...(place ? { feature: [place] } : {}) };
  return { [windowName(span)]: { ...narrowed, range: duration(span) } };
}

/** A stream's groups of a window: `aggregates` of `?value`, by place and sensor. */
export function grouped(span: number, value: string, aggregates: string): string[] {
  return [
    `# readings of the last ${span} min, by sensor`,
    `{ SELECT ?place ?sensor ${aggregates} WHERE {`,
    `    GRAPH <${windowName(span)}> {`,
    "      ?observation sosa:hasFeatureOfInterest ?place ;",
    "        sosa:madeBySensor ?sensor ;",
    `        sosa:hasSimpleResult ?${value} .`,
    "    }",
    "  } GROUP BY ?place ?sensor }",
  ];
}

/** Lines that keep what was so all the time, of `?observation`, which is so now; `otherwise` is its opposite. */
export function lasted(span: number, otherwise: boolean): string[] {
  const name = windowName(span);
  return [
    `# no reading of the last ${span} min says otherwise`,
    "FILTER NOT EXISTS { GRAPH <" + name + "> {",
    `  ?other sosa:hasFeatureOfInterest ?place ; sosa:madeBySensor ?sensor ; sosa:hasSimpleResult ${otherwise} .`,
    "} }",
    "# the last one is older than that, or not the only one",
    "?observation sosa:resultTime ?last .",
    "OPTIONAL { GRAPH <" + name + "> {",
    "  ?recent sosa:hasFeatureOfInterest ?place ; sosa:madeBySensor ?sensor ; sosa:resultTime ?time .",
    "} }",
    "FILTER(!BOUND(?time) || ?time < ?last)",
  ];
}
