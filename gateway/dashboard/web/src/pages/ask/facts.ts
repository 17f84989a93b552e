/** What the store has that a question can be about: read from the streams that the page follows. */

import { isBoolean, isNumeric, PROPERTY } from "../../protocol/terms";
import { called, calledProperty, isThere, labelled, type Stream, streams, structure } from "../../state/streams";
import { type Kind, PRESENCE, type Question, suggested, usual } from "./question";
import { texts } from "../../texts";

/** A property, and what is told of it. */
export interface Known {
  iri: string;
  name: string;
  isTruth: boolean;
  isNumber: boolean;
  /** Of its streams; "" where one has none. */
  units: string[];
  places: Set<string>;
}

export interface Facts {
  isThere: boolean;
  properties: Known[];
  places: { iri: string; name: string }[];
  /** Properties that tell presence, of those there are. */
  presence: string[];
  /** Places where one of them tells. */
  watched: Set<string>;
}

/** As it is now; a component that calls it is drawn again when streams or labels come. */
export function facts(): Facts {
  structure.value;
  labelled.value;
  const properties = new Map<string, Known>();
  const places = new Map<string, string>();
  const watched = new Set<string>();
  for (const stream of streams.values()) {
    take(properties, stream);
    if (!places.has(stream.place)) places.set(stream.place, called(stream.place));
    if (PRESENCE.includes(stream.property)) watched.add(stream.place);
  }
  return {
    isThere: isThere.value,
    properties: [...properties.values()].sort((a, b) => a.name.localeCompare(b.name)),
    places: [...places].map(([iri, name]) => ({ iri, name })).sort((a, b) => a.name.localeCompare(b.name)),
    presence: PRESENCE.filter((each) => properties.has(each)),
    watched,
  };
}

function take(properties: Map<string, Known>, stream: Stream): void {
  const { value, unit } = stream.latest.peek();
  let one = properties.get(stream.property);
  if (!one) {
    const name = calledProperty(stream.property);
    one = { iri: stream.property, name, isTruth: false, isNumber: false, units: [], places: new Set() };
    properties.set(stream.property, one);
  }
  one.isTruth ||= isBoolean(value);
  one.isNumber ||= isNumeric(value);
  one.units.push(unit ?? "");
  one.places.add(stream.place);
}

/** Kinds of question that a property can be asked. */
export function kindsOf(known: Known | undefined): Kind[] {
  if (!known) return ["silent"];
  const kinds: Kind[] = [];
  if (known.isNumber) kinds.push("above", "below", "top", "bottom");
  if (known.isTruth) kinds.push("true", "false");
  return [...kinds, "silent"];
}

/** The sentence before anything was chosen, about this property. */
export function startOf(known: Known | undefined): Question {
  const unit = known ? usual(known.units) : "";
  const kind = kindsOf(known)[0] ?? "silent";
  const limit = known ? suggested(known.iri, unit) : "";
  const property = known?.iri ?? "";
  return { kind, property, place: "", limit, unit, count: 3, minutes: 10, people: "", over: "", span: 10 };
}

/** A question that is ready to be asked, in words. */
export interface Example {
  key: string;
  title: string;
  question: Question;
}

/** Those that this store can answer, the one that most people come with first. */
export function examples({ properties, watched }: Facts): Example[] {
  const by = new Map(properties.map((each) => [each.iri.replace(PROPERTY, ""), each]));
  const said = texts.ask.examples;
  const found: Example[] = [];
  const add = (key: keyof typeof said, name: string, change: Partial<Question>): void => {
    const known = by.get(name);
    if (name && !known) return;
    const question = { ...startOf(known), ...change };
    if ((question.kind === "above" || question.kind === "below") && question.limit === "") return;
    found.push({ key, title: said[key], question });
  };
  const warm = by.get("temperature");
  if (warm && [...warm.places].some((place) => watched.has(place))) {
    add("warmAndEmpty", "temperature", { kind: "above", people: "nobody" });
  }
  add("open", "opening", { kind: "true" });
  add("power", "power", { kind: "above" });
  add("battery", "battery", { kind: "below" });
  add("warmest", "temperature", { kind: "top", count: 3 });
  if (properties.length > 0) add("silent", "", { kind: "silent", minutes: 10 });
  return found;
}

