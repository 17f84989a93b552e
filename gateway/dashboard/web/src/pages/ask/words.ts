/** A question as people say it. */

import { localName } from "../../protocol/terms";
import { unit as unitName } from "../../state/format";
import { texts } from "../../texts";
import type { Facts } from "./facts";
import type { Over } from "./lasting";
import type { Kind, Question } from "./question";

/** What a kind of question is called of a property: that which is true is open, on, wet. */
export function kindName(kind: Kind, property: string): string {
  if (kind !== "true" && kind !== "false") return texts.ask.kinds[kind];
  const [whenTrue, whenFalse] = texts.words[localName(property)] ?? texts.words.otherwise;
  return kind === "true" ? whenTrue : whenFalse;
}

/** How long it is to be so. */
export function overName(over: Over, span: number): string {
  if (over === "") return texts.ask.now;
  return over === "for" ? texts.ask.minutes(span) : texts.ask.mean(span);
}

/** The sentence with its blanks filled. */
export function sentenceOf(question: Question, facts: Facts): string {
  const { kind, property, place, limit, unit, count, minutes, people, over, span } = question;
  const named = (list: readonly { iri: string; name: string }[], iri: string, otherwise: string): string =>
    list.find((each) => each.iri === iri)?.name ?? otherwise;
  const amount = (): string => {
    if (kind === "above" || kind === "below") return `${limit} ${unitName(unit)}`.trim();
    if (kind === "top" || kind === "bottom") return String(count);
    if (kind !== "silent") return "";
    return minutes ? texts.ask.minutes(minutes) : texts.ask.promised;
  };
  const who = people === "nobody" ? texts.ask.nobody : people === "somebody" ? texts.ask.somebody : "";
  return [
    texts.ask.tellMe,
    named(facts.properties, property, texts.ask.anything),
    texts.ask.in,
    named(facts.places, place, texts.ask.anyPlace),
    texts.ask.is,
    kindName(kind, property),
    amount(),
    over === "" ? "" : overName(over, span),
    who,
  ]
    .filter((each) => each !== "")
    .join(" ");
}
