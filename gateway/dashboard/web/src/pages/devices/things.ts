/** Proposals as devices, unknown topics as groups that look alike, mappings as devices in use. */

import { covers } from "./members";
import type { Mapping, Proposal, Status, UnknownTopic } from "./told";

/** One device that says what it is. */
export interface Device {
  key: string;
  name: string;
  family: string;
  parts: Proposal[];
}

export const OPEN: ReadonlySet<Status> = new Set<Status>(["proposed", "moved", "changed"]);

const collator = new Intl.Collator(undefined, { numeric: true });

export function deviceKey(proposal: { family: string; device: string }): string {
  return `${proposal.family}\n${proposal.device}`;
}

/** By name; parts by label. */
export function devices(proposals: Proposal[], wanted: (status: Status) => boolean): Device[] {
  const found = new Map<string, Proposal[]>();
  for (const each of proposals) {
    if (!wanted(each.status)) continue;
    const key = deviceKey(each);
    const parts = found.get(key);
    if (parts) parts.push(each);
    else found.set(key, [each]);
  }
  return [...found]
    .map(([key, parts]) => ({ key, name: deviceName(parts), family: parts[0]?.family ?? "", parts }))
    .sort((a, b) => collator.compare(a.name, b.name));
}

/** Those that need nothing but a room before those that ask something. */
export function readyFirst(all: Device[]): Device[] {
  const isReady = ({ parts }: Device): boolean => parts.some((part) => questionOf(part) === null);
  return [...all.filter(isReady), ...all.filter((each) => !isReady(each))];
}

/** The words that all labels begin with, where there are any; what it calls itself otherwise. */
export function deviceName(parts: Pick<Proposal, "label" | "device">[]): string {
  const device = parts[0]?.device ?? "";
  if (parts.every(({ label }) => label.startsWith(device))) return device;
  const words = parts.map(({ label }) => label.split(" "));
  const first = words[0] ?? [];
  // The last word is what is measured.
  const longest = Math.min(...words.map(({ length }) => length)) - 1;
  let count = 0;
  while (count < longest && words.every((each) => each[count] === first[count])) count += 1;
  // What a person called it is in the labels that do not begin with a number of its maker.
  const named = words.find((each) => each.length > 1 && each[0] !== device);
  return first.slice(0, count).join(" ") || named?.slice(0, -1).join(" ") || device;
}

/** What a part is called within its device. */
export function partName(name: string, part: Pick<Proposal, "label">): string {
  const rest = part.label.startsWith(name) ? part.label.slice(name.length).trim() : part.label;
  return rest || part.label;
}

/** What a person is asked: a unit, whether something is so, or what only the editor can say. */
export interface Question {
  text: string;
  asks: "unit" | "yes" | "words" | "editor";
}

/** What kind of answer settles a question; null where there is none. */
export function questionOf(part: { question?: string; error?: string }): Question | null {
  // Where it asks, and whose units they are, is of no use to who answers.
  const text = (part.question || part.error || "").replace(/^unit_of_measurement: /, "").replace(/QUDT unit/g, "unit");
  if (!text) return null;
  if (part.error) return { text, asks: "editor" };
  if (/^Is it open when/.test(text)) return { text, asks: "words" };
  if (/^Is this a measured value/.test(text)) return { text, asks: "yes" };
  if (/Which topic|Which property|template|availability/i.test(text)) return { text, asks: "editor" };
  if (/unit/i.test(text)) return { text, asks: "unit" };
  return { text, asks: "editor" };
}

/** Units that people would say for a property. */
export function unitChoices(property: string): string[] {
  const name = property.replace(/.*[/#]/, "").toLowerCase();
  if (/temp|dew/.test(name)) return ["°C", "°F", "K"];
  if (/pressure/.test(name)) return ["hPa", "kPa", "bar"];
  if (/humid|battery|level|percent/.test(name)) return ["%"];
  if (/power/.test(name)) return ["W", "kW"];
  if (/energy/.test(name)) return ["Wh", "kWh"];
  if (/voltage/.test(name)) return ["V", "mV"];
  if (/current/.test(name)) return ["A", "mA"];
  if (/co2|carbon/.test(name)) return ["ppm"];
  if (/light|illumin|lux/.test(name)) return ["lx"];
  if (/distance|height|depth/.test(name)) return ["m", "cm", "mm"];
  return [];
}

/** Members of the mapping that an answer sets. */
export function answerMembers(question: Question, answer: string, mapping: Mapping): Mapping {
  if (question.asks === "unit") return answer ? { unit: answer } : {};
  if (question.asks === "words" && answer === "no") {
    return { trueValue: mapping.falseValue, falseValue: mapping.trueValue };
  }
  return {};
}

/** Topics that look alike. */
export interface Alike {
  key: string;
  /** The one topic, or the filter that has them all. */
  filter: string;
  topics: UnknownTopic[];
  count: number;
  last: string;
}

/** Topics that no proposed device speaks for; those that a mapping reads in part come last. */
export function unclaimed(topics: UnknownTopic[], proposals: Proposal[], mappings: Mapping[]): UnknownTopic[] {
  const isOpen = readers(proposals.filter(({ status }) => OPEN.has(status)).map(({ mapping }) => mapping));
  const isRead = readers(mappings);
  const left = topics.filter(({ topic }) => !isOpen(topic));
  return [...left.filter(({ topic }) => !isRead(topic)), ...left.filter(({ topic }) => isRead(topic))];
}

function readers(mappings: Mapping[]): (topic: string) => boolean {
  const filters = new Set(mappings.map(({ topic }) => topic ?? ""));
  const wild = [...filters].filter((filter) => /[+#]/.test(filter));
  return (topic) => filters.has(topic) || wild.some((filter) => covers(filter, topic));
}

/** Topics of one family, one depth and one payload's shape; the last heard first. */
export function alike(topics: UnknownTopic[]): Alike[] {
  const groups = new Map<string, UnknownTopic[]>();
  for (const each of topics) {
    const key = looks(each);
    const group = groups.get(key);
    if (group) group.push(each);
    else groups.set(key, [each]);
  }
  return [...groups].map(([key, group]) => ({
    key,
    filter: commonFilter(group.map(({ topic }) => topic)),
    topics: group,
    count: group.reduce((sum, { count }) => sum + count, 0),
    last: group.reduce((last, each) => (each.last > last ? each.last : last), ""),
  }));
}

function looks({ topic, family, guesses }: UnknownTopic): string {
  const levels = topic.split("/");
  // What is read stands in the selectors; their topics share the first or the last level.
  const selectors = guesses.map(({ mapping }) => mapping.selector ?? "").sort();
  return [family, levels.length, levels.length > 1 ? levels[0] : topic, ends(levels), ...selectors].join("\n");
}

function ends(levels: string[]): string {
  return levels.length > 2 ? (levels.at(-1) ?? "") : "";
}

/** `a/+/c` of `a/b/c` and `a/d/c`; topics have the same number of levels. */
export function commonFilter(topics: string[]): string {
  const all = topics.map((topic) => topic.split("/"));
  const first = all[0] ?? [];
  return first.map((level, at) => (all.every((each) => each[at] === level) ? level : "+")).join("/");
}

/** A guess for all topics of a filter: what stands under its wildcards is in the IRIs. */
export function widened(guess: Mapping, topic: string, filter: string): Mapping {
  const { id: _, ...members } = guess;
  if (filter === topic) return members;
  const levels = filter.split("/");
  const names = levels.flatMap((level) => (level === "+" ? [level] : [])).map((_level, at) => `{${at + 1}}`);
  const own = encodeURIComponent(topic);
  const all = names.join("-");
  const wide = (iri: unknown): unknown => (typeof iri === "string" ? iri.split(own).join(all) : iri);
  return { ...members, topic: filter, sensor: wide(members.sensor) as string, feature: wide(members.feature) as string };
}
