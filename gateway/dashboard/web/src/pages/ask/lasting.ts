/**
 * Questions about the last minutes: the windows that they look at, and how SPARQL says it.
 *
 * *For n minutes*: it is so now, and every reading since one that is at least n minutes old says so.
 * Readings of the last n minutes alone would not do: what tells only when it changes (a door, most
 * thermometers) says nothing for long, and a first reading would be "for ten minutes" at once.
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
  const one = (minutes: number): Windows => ({ [windowName(minutes)]: { ...narrowed, range: duration(minutes) } });
  return over === "for" ? { ...one(span), ...one(2 * span) } : one(span);
}

/**
 * Lines that keep the streams of which it was so all the time. `?observation`, `?place` and `?sensor`
 * are bound to what is so now; `otherwise` says of `?told` that it is not.
 */
export function allTheTime(span: number, otherwise: string): string[] {
  const [short, long] = [windowName(span), windowName(2 * span)];
  const stream = (name: string): string => `?${name} sosa:hasFeatureOfInterest ?place ; sosa:madeBySensor ?sensor ;`;
  return [
    `# since a reading that is ${span} min old: the last one, or one of the ${span} min before`,
    "{ ?observation sosa:resultTime ?since . }",
    "UNION",
    `{ GRAPH <${long}> { ${stream("earlier")} sosa:resultTime ?since . } }`,
    `FILTER NOT EXISTS { GRAPH <${short}> { ${stream("recent")} sosa:resultTime ?since . } }`,
    "# none says otherwise",
    "FILTER NOT EXISTS {",
    `  GRAPH <${long}> { ${stream("other")} sosa:hasSimpleResult ?told ; sosa:resultTime ?then . }`,
    `  FILTER(?then >= ?since && ${otherwise})`,
    "}",
  ];
}
