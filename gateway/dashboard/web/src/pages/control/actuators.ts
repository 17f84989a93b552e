/** What can be set, as `GET /actuators` tells it, and which control fits. */

import { localName } from "../../protocol/terms";
import vocabulary from "../../vocabulary.json";
import { type ColourForm, formOf } from "./colour";

export interface Actuator {
  id: string;
  name: string;
  property: string;
  feature: string;
  /** Where commands for it come in, and where the device listens. */
  topic: string;
  commandTopic: string;
  sensor?: string;
  format?: string;
  values?: string[];
  trueValue?: string;
  falseValue?: string;
  minimum?: number;
  maximum?: number;
  step?: number;
  unit?: string;
  timeLimit?: number;
}

export type Wanted = boolean | number | string;

export type Control =
  | { kind: "switch"; on: Wanted; off: Wanted }
  | { kind: "slider"; minimum: number; maximum: number; step: number }
  | { kind: "number"; minimum: number | undefined; maximum: number | undefined; step: number | undefined }
  | { kind: "choice"; words: string[] }
  | { kind: "colour"; form: ColourForm }
  | { kind: "cover"; open: string; close: string; stop: string | null }
  | { kind: "text" };

const TRUE = new Set(["on", "true", "yes", "1", "open", "opened", "locked", "enabled"]);
const FALSE = new Set(["off", "false", "no", "0", "closed", "unlocked", "disabled"]);
const NEITHER = new Set(["toggle"]);
const SHAPES: Record<string, { shape: string } | undefined> = vocabulary.properties;
const STEPS = 100;

/** The control for an actuator; `told` is its state as last observed, "" for none. */
export function controlOf(actuator: Actuator, told = ""): Control {
  const words = (actuator.values ?? []).filter((word) => !NEITHER.has(word.toLowerCase()));
  if (words.length > 0) return controlOfWords(words, actuator);
  const { minimum, maximum, step } = actuator;
  if (minimum !== undefined && maximum !== undefined && minimum < maximum) {
    return { kind: "slider", minimum, maximum, step: step ?? stepFor(maximum - minimum) };
  }
  if (minimum !== undefined || maximum !== undefined || step !== undefined) {
    return { kind: "number", minimum, maximum, step };
  }
  if (actuator.trueValue || actuator.falseValue) return { kind: "switch", on: true, off: false };
  const property = localName(actuator.property);
  if (property === "color" || property === "colour") {
    return { kind: "colour", form: formOf(told, actuator.commandTopic, actuator.format ?? "") };
  }
  const shape = actuator.property.startsWith(vocabulary.base) ? SHAPES[property]?.shape : undefined;
  if (shape === "truth") return { kind: "switch", on: true, off: false };
  if (shape === "number") return { kind: "number", minimum, maximum, step };
  return { kind: "text" };
}

function controlOfWords(words: string[], actuator: Actuator): Control {
  const find = (...names: string[]): string | undefined => words.find((word) => names.includes(word.toLowerCase()));
  const [open, close] = [find("open"), find("close")];
  if (open && close) return { kind: "cover", open, close, stop: find("stop", "pause") ?? null };
  if (words.length !== 2) return { kind: "choice", words };
  const on = words.find((word) => word === actuator.trueValue) ?? words.find((word) => TRUE.has(word.toLowerCase()));
  const off = words.find((word) => word === actuator.falseValue) ?? words.find((word) => FALSE.has(word.toLowerCase()));
  return on && off && on !== off ? { kind: "switch", on: true, off: false } : { kind: "choice", words };
}

/** About a hundred steps: 1, 2 or 5 of a power of ten. */
function stepFor(range: number): number {
  const raw = range / STEPS;
  const power = 10 ** Math.floor(Math.log10(raw));
  const times = [1, 2, 5, 10].find((each) => each * power >= raw * 0.999) ?? 10;
  return Number((times * power).toPrecision(1));
}

/** Whether a text of a device means true; null for neither. */
export function truth(text: string, actuator: Actuator): boolean | null {
  const word = text.toLowerCase();
  if (word === actuator.trueValue?.toLowerCase() || TRUE.has(word)) return true;
  if (word === actuator.falseValue?.toLowerCase() || FALSE.has(word)) return false;
  return null;
}

export interface Place {
  feature: string;
  name: string;
  actuators: Actuator[];
}

/** By place and name; those whose name, place or property has `find` in it. */
export function byPlace(
  actuators: readonly Actuator[],
  find: string,
  placeOf: (iri: string) => string,
  propertyOf: (iri: string) => string,
): Place[] {
  const wanted = find.trim().toLowerCase();
  const places = new Map<string, Place>();
  for (const actuator of actuators) {
    const name = placeOf(actuator.feature);
    const said = `${actuator.name}\n${name}\n${propertyOf(actuator.property)}`.toLowerCase();
    if (wanted && !said.includes(wanted)) continue;
    let place = places.get(actuator.feature);
    if (!place) {
      place = { feature: actuator.feature, name, actuators: [] };
      places.set(actuator.feature, place);
    }
    place.actuators.push(actuator);
  }
  const all = [...places.values()].sort((a, b) => a.name.localeCompare(b.name));
  // A cover's position stands beneath its buttons.
  for (const place of all) place.actuators.sort((a, b) => a.name.localeCompare(b.name));
  return all;
}
