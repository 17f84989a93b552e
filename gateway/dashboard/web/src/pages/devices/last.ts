/** What proposed mappings would make of the last message: values beside words. */

import { unit, value } from "../../state/format";
import { given, type Mapping, messages, type Seen, tried } from "./told";

/** What is seen by one part of a device. */
export function seenKey(mapping: Pick<Mapping, "sensor" | "property">): string {
  return `${mapping.sensor}\n${mapping.property}`;
}

/** The last observations of mappings, each by sensor and property; nothing is stored of them. */
export async function lastSeen(mappings: Mapping[], signal: AbortSignal): Promise<Map<string, Seen>> {
  const found = new Map<string, Seen>();
  const topics = new Set(mappings.flatMap(({ topic }) => (topic ? [topic] : [])));
  for (const topic of topics) {
    const [last] = await messages(topic, 1, signal);
    if (!last) continue;
    const outcome = await tried(given(last), mappings.filter((each) => each.topic === topic), signal);
    for (const seen of outcome.observations) found.set(seenKey(seen), seen);
  }
  return found;
}

/** 21.3 °C */
export function inWords(seen: Seen): string {
  const text = value({ type: "literal", value: seen.result, datatype: seen.datatype }, seen.property);
  return [text, unit(seen.unit ?? undefined)].filter(Boolean).join(" ");
}
