/** Streams grouped by place, property or device; those that need a person first. */

import { alarms } from "../../frame/news";
import { called, calledProperty, type Stream } from "../../state/streams";
import { propertyKind } from "../../state/format";

export type By = "place" | "property" | "device";

export interface Grouped {
  key: string;
  name: string;
  lines: Line[];
  /** A place that is no device of its own. */
  isRoom: boolean;
  needsLook: boolean;
}

export interface Line {
  stream: Stream;
  /** What the line is called within its group. */
  name: string;
}

const KEY: Record<By, (stream: Stream) => string> = {
  place: (stream) => stream.place,
  property: (stream) => stream.property,
  device: (stream) => stream.sensor,
};

/** Measurements and states before what a device says of itself. */
const ORDER: Record<string, number> = { Measurement: 0, State: 0, Event: 1, "": 1, Setting: 2, Diagnostic: 3 };

/** What stands at `find` in words: a place, a property, a device; or those that are silent. */
function isFound(stream: Stream, words: string[]): boolean {
  if (words.length === 0) return true;
  const text = [
    called(stream.place),
    calledProperty(stream.property),
    called(stream.sensor),
    stream.absence.peek() ? "silent" : "",
  ]
    .join(" ")
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

function lineName(stream: Stream, by: By, isAlone: boolean): string {
  if (by === "property") return called(stream.place);
  const property = calledProperty(stream.property);
  return isAlone || by === "device" ? property : `${property} · ${called(stream.sensor)}`;
}

/** Groups by name; those with a silent stream first. A property that two sensors tell names both. */
export function grouped(streams: Iterable<Stream>, by: By, find: string): Grouped[] {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, Stream[]>();
  for (const stream of streams) {
    if (!isFound(stream, words)) continue;
    const key = KEY[by](stream);
    const group = groups.get(key);
    if (group) group.push(stream);
    else groups.set(key, [stream]);
  }
  return [...groups].map(([key, members]) => group(key, members, by)).sort(compareGroups);
}

function group(key: string, members: Stream[], by: By): Grouped {
  const counts = new Map<string, number>();
  for (const { property, place } of members) {
    const told = by === "property" ? place : property;
    counts.set(told, (counts.get(told) ?? 0) + 1);
  }
  const lines = members.map((stream) => {
    const count = counts.get(by === "property" ? stream.place : stream.property) ?? 0;
    return { stream, name: lineName(stream, by, count === 1), order: ORDER[propertyKind(stream.property)] ?? 1 };
  });
  lines.sort((a, b) => needsLook(b.stream) - needsLook(a.stream) || a.order - b.order || compare(a.name, b.name));
  const name = by === "property" ? calledProperty(key) : called(key);
  const isRoom = by !== "place" || members.some(({ place, sensor }) => place !== sensor);
  return { key, name, lines, isRoom, needsLook: members.some((stream) => needsLook(stream) > 0) };
}

/** Whether it is silent, or an alarm names it. */
function needsLook({ absence, sensor, property, place }: Stream): number {
  if (absence.peek()) return 1;
  return alarms.peek().some(({ where }) => where === sensor || where === property || where === place) ? 1 : 0;
}

/** What needs a look, then rooms, then devices that stand in none. */
function compareGroups(a: Grouped, b: Grouped): number {
  return (
    Number(b.needsLook) - Number(a.needsLook) ||
    Number(b.isRoom) - Number(a.isRoom) ||
    compare(a.name, b.name) ||
    compare(a.key, b.key)
  );
}

const collator = new Intl.Collator(undefined, { numeric: true });
const compare = (a: string, b: string): number => collator.compare(a, b);
