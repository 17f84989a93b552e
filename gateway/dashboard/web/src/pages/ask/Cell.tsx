/** One value of an answer, as people write it. */

import { memo } from "preact/compat";
import { Told } from "../../parts";
import { isNumeric, PROPERTY, type Term, time, UNIT } from "../../protocol/terms";
import { unit, value, whole } from "../../state/format";
import { called, calledProperty, labelled, streams } from "../../state/streams";
import { isTime } from "./shape";

const LONGEST = 300;

export const Cell = memo(function Cell({ term }: { term: Term | undefined }) {
  labelled.value;
  if (!term) return null;
  return <Told title={term.value.slice(0, LONGEST)}>{written(term)}</Told>;
});

/** What stands in the cell. */
export function written(term: Term): string {
  if (term.type === "uri") return named(term.value);
  if (isTime(term) && Number.isFinite(time(term))) return whole(time(term));
  const text = isNumeric(term) ? value(term) : term.type === "bnode" ? `_:${term.value}` : term.value;
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function named(iri: string): string {
  if (iri.startsWith(UNIT)) return unit(iri) || iri.slice(UNIT.length);
  return iri.startsWith(PROPERTY) ? calledProperty(iri) : called(iri) || iri;
}

/** The observation that a row is of, as far as the row tells; "" where it does not. */
export function observationOf(row: Record<string, Term>): string {
  const terms = Object.values(row);
  const own = terms.find(({ type, value: iri }) => type === "uri" && iri.includes("/observation/"));
  if (own) return own.value;
  const iris = new Set(terms.filter(({ type }) => type === "uri").map((term) => term.value));
  const values = new Set(terms.filter(({ type }) => type !== "uri").map((term) => term.value));
  for (const stream of streams.values()) {
    const last = stream.latest.peek();
    if (iris.has(stream.sensor) && iris.has(stream.place) && (values.size === 0 || values.has(last.value.value))) {
      return last.observation;
    }
  }
  return "";
}
