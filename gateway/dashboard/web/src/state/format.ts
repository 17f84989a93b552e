/** Numbers, units and times as people of this browser's locale write them. */

import { texts } from "../texts";
import { isBoolean, isNumeric, localName, type Term, UNIT } from "../protocol/terms";
import vocabulary from "../vocabulary.json";

interface Said {
  label: string;
  kind: string;
  shape: string;
}

const properties: Record<string, Said> = vocabulary.properties;
const symbols: Record<string, string> = vocabulary.units;
const words: Record<string, readonly [string, string]> = texts.words;
const locale = navigator.language || "en";
const formats = new Map<string, Intl.NumberFormat>();

function format(digits: number): Intl.NumberFormat {
  const key = String(digits);
  let one = formats.get(key);
  if (!one) {
    one = new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
    formats.set(key, one);
  }
  return one;
}

const ROUND = 4;

/** With the digits that the device told, four behind the point at most. */
export function number(lexical: string): string {
  const value = Number(lexical);
  if (!Number.isFinite(value)) return lexical;
  if (Math.abs(value) >= 1e12 || (value !== 0 && Math.abs(value) < 1e-4)) return value.toExponential(2);
  const digits = /e/i.test(lexical) ? ROUND : (lexical.split(".")[1]?.length ?? 0);
  return format(Math.min(digits, ROUND)).format(value);
}

/** A number that we count or compute: three significant digits, whole ones whole. */
export function short(value: number): string {
  if (Number.isInteger(value)) return format(0).format(value);
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return format(digits).format(value);
}

/** How people write a unit; "" for none. */
export function unit(iri: string | undefined): string {
  if (!iri || iri === `${UNIT}UNITLESS`) return "";
  const name = iri.startsWith(UNIT) ? iri.slice(UNIT.length) : iri;
  return symbols[name] ?? localName(iri);
}

/** What a value is in words; numbers without their unit. */
export function value(term: Term, property = ""): string {
  if (isNumeric(term)) return number(term.value);
  if (isBoolean(term)) {
    const yes = term.value === "true" || term.value === "1";
    const [whenTrue, whenFalse] = words[localName(property)] ?? texts.words.otherwise;
    return yes ? whenTrue : whenFalse;
  }
  return term.value;
}

/** What a property of the vocabulary is called. */
export function propertyName(iri: string): string {
  const name = localName(iri);
  const said = iri.startsWith(vocabulary.base) ? properties[iri.slice(vocabulary.base.length)] : undefined;
  return said?.label ?? name.replace(/[_-]/g, " ");
}

/** Measurement, State, Setting, Diagnostic, Event; "" for what stands in no vocabulary. */
export function propertyKind(iri: string): string {
  return iri.startsWith(vocabulary.base) ? (properties[iri.slice(vocabulary.base.length)]?.kind ?? "") : "";
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** 3 s, 12 min, 2 h, 4 d; a time to come is 0 s. */
export function age(ms: number): string {
  const past = Math.max(ms, 0);
  if (past < MINUTE) return `${Math.floor(past / SECOND)} s`;
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min`;
  if (past < 2 * DAY) return `${Math.floor(past / HOUR)} h`;
  return `${Math.floor(past / DAY)} d`;
}

const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const minutes = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const dated = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat(locale, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });

/** 14:03:12 */
export function timeOfDay(ms: number): string {
  return clock.format(ms);
}

/** 14:03 today, 3 Nov, 14:03 on another day. */
export function since(ms: number, at = Date.now()): string {
  return at - ms < DAY ? minutes.format(ms) : day.format(ms);
}

const shortDay = new Intl.DateTimeFormat(locale, { month: "short", day: "numeric" });

/** At an axis whose steps are so many seconds: a time, or at midnight and beyond a day's steps a date. */
export function axisTime(ms: number, stepS: number): string {
  const at = new Date(ms);
  const isDay = stepS >= 86_400 || (at.getHours() === 0 && at.getMinutes() === 0 && at.getSeconds() === 0);
  if (isDay) return shortDay.format(ms);
  return stepS < 60 ? clock.format(ms) : minutes.format(ms);
}

/** The whole date, for who points at it. */
export function whole(ms: number): string {
  return Number.isFinite(ms) ? dated.format(ms) : "";
}

/** 1.2 MB */
export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let step = 0;
  let left = count;
  while (left >= 1000 && step < units.length - 1) {
    left /= 1000;
    step += 1;
  }
  return `${short(Math.round(left * 10) / 10)} ${units[step]}`;
}
