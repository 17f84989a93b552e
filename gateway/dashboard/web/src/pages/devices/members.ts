/** The members of a mapping as a form: what they are, what is written, what is wrong with which. */

import type { Edits, Given, Mapping, UnknownTopic } from "./told";

export interface Field {
  name: string;
  kind: "text" | "format" | "property" | "room" | "unit" | "seconds" | "number" | "retained";
  needed?: boolean;
  /** Beside another one. */
  isHalf?: boolean;
}

export const FIRST: Field[] = [
  { name: "topic", kind: "text", needed: true },
  { name: "format", kind: "format", needed: true, isHalf: true },
  { name: "selector", kind: "text", isHalf: true },
  { name: "property", kind: "property", needed: true },
  { name: "feature", kind: "room", needed: true },
  { name: "sensor", kind: "text", needed: true },
  { name: "unit", kind: "unit", isHalf: true },
  { name: "deviceUnit", kind: "unit", isHalf: true },
];

export const MORE: Field[] = [
  { name: "scale", kind: "number", isHalf: true },
  { name: "offset", kind: "number", isHalf: true },
  { name: "condition", kind: "text", isHalf: true },
  { name: "decimalSign", kind: "text", isHalf: true },
  { name: "expiresAfter", kind: "seconds" },
  { name: "trueValue", kind: "text", isHalf: true },
  { name: "falseValue", kind: "text", isHalf: true },
  { name: "time", kind: "text", isHalf: true },
  { name: "sequence", kind: "text", isHalf: true },
  { name: "retained", kind: "retained" },
  { name: "availability", kind: "text" },
  { name: "sensorClass", kind: "text" },
  { name: "availabilities", kind: "text" },
];

export const FORMATS = [
  "json",
  "scalar",
  "text",
  "csv",
  "senml",
  "cbor",
  "msgpack",
  "bytes",
  "hex",
  "zigbee2mqtt",
  "tasmota",
  "shelly",
  "shelly_gen1",
  "esphome",
  "homeassistant",
  "homie",
  "sparkplug",
  "chirpstack",
  "ttn",
  "ruuvi",
  "theengs",
  "fiware",
  "ultralight",
  "ngsi",
  "influx",
  "sensorthings",
];

const ALL = [...FIRST, ...MORE];

/** What the form shows of a member. */
export function shown(mapping: Mapping, name: string): string {
  const value = mapping[name];
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** What is written of what stands in the form: nothing for what is empty. */
export function written(form: Mapping): Mapping {
  const members: Mapping = {};
  if (form.id) members.id = form.id;
  for (const { name, kind } of ALL) {
    const text = shown(form, name).trim();
    if (!text) continue;
    members[name] = kind === "seconds" || kind === "number" ? Number(text) : text;
  }
  return members;
}

/** Members that an edited proposal gives: those that differ, null for what is gone. */
export function differing(before: Mapping, after: Mapping): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const { name } of ALL) {
    if (shown(before, name) === shown(after, name)) continue;
    found[name] = after[name] ?? null;
  }
  return found;
}

export function isSame(before: Mapping, after: Mapping): boolean {
  return before.id === after.id && Object.keys(differing(before, after)).length === 0;
}

/** Which member a refusal is about, and what it says; the member is "" where it is about none. */
export function refusal(message: string): { member: string; text: string } {
  const found = /^(?:\w+\[\d+\]\.|(?:mapping )?<[^>]*>, )([A-Za-z]+)(?:\.[\w.[\]]+)?: ([\s\S]*)$/.exec(message);
  const member = found?.[1] ?? "";
  if (!found || !ALL.some(({ name }) => name === member)) return { member: "", text: message };
  return { member, text: found[2] ?? message };
}

/** Members that are missing before anything can be tried. */
export function missing(form: Mapping): string[] {
  return FIRST.filter(({ name, needed }) => needed && !shown(form, name).trim()).map(({ name }) => name);
}

/** An id for a mapping that somebody writes. */
export function ownId(base: string, { topic = "", selector = "" }: Mapping): string {
  const parts = ["own", topic, ...(selector ? [selector] : [])].map(encodeURIComponent);
  return `${base || "urn:sosa-gateway"}/mapping/${parts.join("/")}`;
}

/** Add it, or put it in place of the one that was there. */
export function edits(before: Mapping | null, after: Mapping): Edits {
  return before?.id && before.id === after.id ? { replace: [after] } : { add: [after] };
}

/** The last message of an unknown topic, as it is tried. */
export function sampled(topic: UnknownTopic): Given {
  const sample = topic.payloads?.[0];
  if (sample?.payloadBase64) return { topic: topic.topic, payloadBase64: sample.payloadBase64 };
  return { topic: topic.topic, payload: sample?.payload ?? "" };
}

/** Whether a topic is one of a filter's. */
export function covers(filter: string, topic: string): boolean {
  const levels = topic.split("/");
  const wanted = filter.split("/");
  for (const [at, level] of wanted.entries()) {
    if (level === "#") return true;
    if (at >= levels.length || (level !== "+" && level !== levels[at])) return false;
  }
  return wanted.length === levels.length;
}
