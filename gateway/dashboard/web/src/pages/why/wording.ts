/** What a station tells, as people say it: things by their names, queries without their beginnings. */

import { localName, UNIT } from "../../protocol/terms";
import { unit } from "../../state/format";
import { called, calledProperty } from "../../state/streams";
import { plain } from "./questions";
import type { Item } from "./stations";

const NAMED = new Set(["sensor", "place", "feature", "mapping", "observation", "rule", "actuator", "command", "term"]);
const IRI = /(?:https?:\/\/|urn:)\S+/g;

/** The value of an item; the whole of it is its title. */
export function itemValue({ value, link }: Item): string {
  if (link?.kind === "property") return calledProperty(link.id);
  if (link && NAMED.has(link.kind)) return called(link.id);
  if (link?.kind === "subscription") return plain(value);
  return value
    .split(" ")
    .map((word) => (word.startsWith(UNIT) ? unit(word) : fileName(word)))
    .join(" ");
}

/** Its name, with the end of an IRI for the IRI. */
export function itemName({ name }: Item): string {
  return name.replace(IRI, (iri) => localName(iri));
}

/** `/a/b/house.jsap:` → `house.jsap:` */
function fileName(word: string): string {
  return /^\/.*\.jsap:?$/.test(word) ? word.slice(word.lastIndexOf("/") + 1) : word;
}
