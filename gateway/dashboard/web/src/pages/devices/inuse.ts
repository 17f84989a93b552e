/** Devices in use: mappings in force with what they gave last. */

import type { Stream } from "../../state/streams";
import { deviceKey, deviceName } from "./things";
import type { Mapping, Proposal } from "./told";

export interface Used {
  key: string;
  name: string;
  family: string;
  parts: Part[];
}

/** A mapping, and the stream that it gives; null where nothing was heard yet. */
export interface Part {
  key: string;
  mapping: Mapping;
  sensor: string;
  place: string;
  stream: Stream | null;
  proposal: Proposal | null;
}

/** `urn:s:{1}` as a pattern of what it gives. */
export function pattern(template: string): RegExp {
  const fixed = template.split(/\{[^}]*\}/).map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${fixed.join("(.+)")}$`);
}

/** By name. A mapping whose sensor is a template is in as many devices as it was heard of. */
export function used(
  mappings: Mapping[],
  proposals: Proposal[],
  streams: Iterable<Stream>,
  called: (iri: string) => string,
): Used[] {
  const byNode = new Map(proposals.map((each) => [each.mapping.id ?? "", each]));
  const byProperty = new Map<string, Stream[]>();
  for (const each of streams) {
    const all = byProperty.get(each.property);
    if (all) all.push(each);
    else byProperty.set(each.property, [each]);
  }
  const found = new Map<string, Part[]>();
  for (const mapping of mappings) {
    for (const part of partsOf(mapping, byNode.get(mapping.id ?? "") ?? null, byProperty)) {
      const key = part.proposal ? deviceKey(part.proposal) : `\n${part.sensor}`;
      const parts = found.get(key);
      if (parts) parts.push(part);
      else found.set(key, [part]);
    }
  }
  return [...found].map(([key, parts]) => usedOf(key, parts, called)).sort((a, b) => collator.compare(a.name, b.name));
}

const collator = new Intl.Collator(undefined, { numeric: true });

function partsOf(mapping: Mapping, proposal: Proposal | null, byProperty: Map<string, Stream[]>): Part[] {
  const { sensor = "", feature = "", property = "" } = mapping;
  const isTemplate = sensor.includes("{");
  const like = isTemplate ? pattern(sensor) : null;
  const heard = (byProperty.get(property) ?? []).filter((each) => (like ? like.test(each.sensor) : each.sensor === sensor));
  const part = (stream: Stream | null): Part => ({
    key: `${mapping.id}\n${stream?.key ?? ""}`,
    mapping,
    sensor: stream?.sensor ?? sensor,
    place: stream?.place ?? feature,
    stream,
    proposal,
  });
  // A room that was given since: what was said of the old one is of no interest here.
  const now = feature.includes("{") ? heard : heard.filter(({ place }) => place === feature);
  return now.length > 0 ? now.map(part) : [part(null)];
}

function usedOf(key: string, parts: Part[], called: (iri: string) => string): Used {
  const [family, device] = key.split("\n") as [string, string];
  const proposals = parts.flatMap(({ proposal }) => (proposal ? [proposal] : []));
  const name = proposals.length > 0 ? deviceName(proposals) : device.includes("{") ? device : called(device);
  return { key, name, family, parts };
}

/** When a device was last heard, ms; NaN for never. */
export function lastHeard(parts: Part[]): number {
  const times = parts.flatMap(({ stream }) => (stream ? [stream.latest.value.ingested] : []));
  return times.length > 0 ? Math.max(...times) : Number.NaN;
}
