/** Rooms: those that there are, and new ones. */

import type { Mapping, Proposal } from "./told";

export interface Room {
  iri: string;
  name: string;
}

/** What the IRIs of this gateway begin with, from one that it minted; "" for what it did not. */
export function baseOf(mapping: Mapping): string {
  for (const [iri, part] of [
    [mapping.id, "/mapping/"],
    [mapping.sensor, "/sensor/"],
    [mapping.feature, "/feature/"],
  ] as const) {
    const at = iri?.indexOf(part) ?? -1;
    if (iri && at > 0) return iri.slice(0, at);
  }
  return "";
}

/** An IRI for a room; the same for the same name. */
export function mint(base: string, name: string): string {
  return `${base || "urn:sosa-gateway"}/room/${encodeURIComponent(name.trim())}`;
}

/** What devices are to themselves: no room. */
export function isOwn(iri: string, proposals: Iterable<Pick<Proposal, "mapping">>): boolean {
  if (/\/(feature|sensor|device)\//.test(iri)) return true;
  for (const { mapping } of proposals) if (mapping.feature === iri) return true;
  return false;
}

/** Rooms of mappings and of what is heard, by name, each once. */
export function rooms(
  places: Room[],
  mappings: Mapping[],
  proposals: Proposal[],
  called: (iri: string) => string,
): Room[] {
  const found = new Map<string, string>();
  for (const { iri, name } of places) found.set(iri, name);
  for (const { feature } of mappings) {
    if (feature && !feature.includes("{") && !found.has(feature)) found.set(feature, called(feature));
  }
  const own = new Set(proposals.map(({ mapping }) => mapping.feature));
  return [...found]
    .filter(([iri]) => !own.has(iri) && !isOwn(iri, []))
    .map(([iri, name]) => ({ iri, name }))
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** The room whose name stands in the device's; of several the longest. */
export function suggested(all: Room[], device: string): Room | undefined {
  const text = device.toLowerCase();
  const words = new Set(text.split(/[^\p{L}\p{N}]+/u));
  return all
    .filter(({ name }) => (name.includes(" ") ? text.includes(name.toLowerCase()) : words.has(name.toLowerCase())))
    .sort((a, b) => b.name.length - a.name.length)[0];
}

/** What an UPDATE writes of a new room. */
export function description(iri: string, name: string): string {
  return `<${iri}> a sosa:FeatureOfInterest ; rdfs:label ${JSON.stringify(name)}`;
}
