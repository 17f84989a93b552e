/** The question in words: a sentence whose blanks are filled from what the store has. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { tellDone } from "../../frame/undo";
import { ask } from "../../protocol/sparql";
import { prologue } from "../../protocol/terms";
import { unit as unitName } from "../../state/format";
import { texts } from "../../texts";
import { declare, declared, question as current, openedAs, text } from "./desk";
import { type Facts, kindsOf, type Known, startOf } from "./facts";
import { type Over, SPANS, windowsOf } from "./lasting";
import { build, type Kind, lacking, oversOf, type Question, usual } from "./question";
import { alike } from "./units";
import { kindName, overName, sentenceOf } from "./words";

const MINUTES = [0, 5, 10, 30, 60, 120, 1440];
const SEVERAL = `ASK { ?a sosa:madeBySensor ?s ; sosa:observedProperty ?p ; sosa:hasFeatureOfInterest ?f .
  ?b sosa:madeBySensor ?s ; sosa:observedProperty ?p ; sosa:hasFeatureOfInterest ?f . FILTER(?a != ?b) }`;

/** Whether the store keeps more than the last observation of a stream. */
const keepsMore = signal(false);
let isAsked = false;

/** Ask once whether it does. */
export async function lookAtStore(): Promise<void> {
  if (isAsked) return;
  isAsked = true;
  try {
    keepsMore.value = (await ask(prologue(SEVERAL) + SEVERAL)).boolean ?? false;
  } catch {
    isAsked = false;
  }
}

/** Write the question down, in place of what stands there. */
export function write(question: Question, facts: Facts): void {
  const before = { text: text.peek(), question: current.peek(), name: openedAs.peek(), declared: declared.peek() };
  current.value = question;
  if (lacking(question)) return;
  const known = facts.properties.find(({ iri }) => iri === question.property);
  const ground = {
    presence: facts.presence,
    hasUnits: known ? known.units.some((each) => each !== "") : false,
    keepsMore: keepsMore.value,
  };
  text.value = build(question, ground, { sentence: sentenceOf(question, facts) });
  declare(windowsOf(question));
  openedAs.value = "";
  if (before.question || !before.text.trim() || before.text === text.value) return;
  tellDone(texts.ask.replaced, async () => {
    text.value = before.text;
    declared.value = before.declared;
    current.value = before.question;
    openedAs.value = before.name;
  });
}

export function Sentence({ facts }: { facts: Facts }) {
  useEffect(() => void lookAtStore(), []);
  if (facts.properties.length === 0) return facts.isThere ? <p class="quiet">{texts.ask.noStreams}</p> : null;
  const known = (iri: string): Known | undefined => facts.properties.find((each) => each.iri === iri);
  const first = known(facts.properties.find(({ iri }) => iri.endsWith("/temperature"))?.iri ?? "") ?? facts.properties[0];
  const question = current.value ?? startOf(first);
  const change = (part: Partial<Question>): void => write({ ...question, ...part }, facts);
  const about = (iri: string): void => {
    const start = startOf(known(iri));
    const kinds = kindsOf(known(iri));
    const kind = kinds.includes(question.kind) ? question.kind : start.kind;
    const { place, people, minutes, span } = question;
    const over = oversOf(kind).includes(question.over) ? question.over : "";
    write({ ...start, kind, place, people, minutes, over, span }, facts);
  };
  return (
    <form class="sentence" aria-label={texts.ask.sentence} onSubmit={(event) => event.preventDefault()}>
      <p>
        {texts.ask.tellMe} <What question={question} facts={facts} onChange={about} /> {texts.ask.in}{" "}
        <Choice
          label={texts.ask.where}
          value={question.place}
          options={[["", texts.ask.anyPlace], ...placesOf(question, facts)]}
          onChange={(place) => change({ place })}
        />{" "}
        {texts.ask.is}{" "}
        <Choice
          label={texts.ask.how}
          value={question.kind}
          options={kindsOf(known(question.property)).map((kind) => [kind, kindName(kind, question.property)])}
          onChange={(kind) => change({ kind: kind as Kind, ...(oversOf(kind as Kind).includes(question.over) ? {} : { over: "" }) })}
        />{" "}
        <Amount question={question} known={known(question.property)} onChange={change} />
        <HowLong question={question} onChange={change} />
        {facts.presence.length > 0 && (
          <Choice
            label={texts.ask.people}
            value={question.people}
            options={[["", texts.ask.whoever], ["nobody", texts.ask.nobody], ["somebody", texts.ask.somebody]]}
            onChange={(people) => change({ people: people as Question["people"] })}
          />
        )}
      </p>
      <Remarks question={question} facts={facts} />
    </form>
  );
}

/** Places that have such streams; the others would give no rows. */
function placesOf({ property, place }: Question, facts: Facts): [string, string][] {
  const there = facts.properties.find(({ iri }) => iri === property)?.places;
  return facts.places
    .filter(({ iri }) => !there || there.has(iri) || iri === place)
    .map(({ iri, name }) => [iri, name]);
}

function What({ question, facts, onChange }: { question: Question; facts: Facts; onChange: (iri: string) => void }) {
  const useful = facts.properties.filter(({ isNumber, isTruth }) => isNumber || isTruth);
  return (
    <Choice
      label={texts.ask.what}
      value={question.property}
      options={[...useful.map(({ iri, name }): [string, string] => [iri, name]), ["", texts.ask.anything]]}
      onChange={onChange}
    />
  );
}

interface AmountProperties {
  question: Question;
  known: Known | undefined;
  onChange: (part: Partial<Question>) => void;
}

function Amount({ question, known, onChange }: AmountProperties) {
  const { kind, limit, unit, count, minutes } = question;
  if (kind === "above" || kind === "below") {
    return (
      <>
        <Blank label={texts.ask.limit} value={limit} isWrong={lacking(question) === "limit"} onChange={(now) => onChange({ limit: now })} />{" "}
        <Units unit={unit} known={known} onChange={(now) => onChange({ unit: now })} />{" "}
      </>
    );
  }
  if (kind === "top" || kind === "bottom") {
    const isWrong = lacking(question) === "count";
    return (
      <>
        <Blank label={texts.ask.many} value={count ? String(count) : ""} isWrong={isWrong} onChange={(now) => onChange({ count: Number(now) })} />{" "}
      </>
    );
  }
  if (kind !== "silent") return null;
  return (
    <>
      <Choice
        label={texts.ask.long}
        value={String(minutes)}
        options={MINUTES.map((each) => [String(each), each === 0 ? texts.ask.promised : texts.ask.minutes(each)])}
        onChange={(now) => onChange({ minutes: Number(now) })}
      />{" "}
    </>
  );
}

/** Now, for so many minutes, or on their mean. */
function HowLong({ question, onChange }: { question: Question; onChange: (part: Partial<Question>) => void }) {
  const all = oversOf(question.kind).flatMap((over): [string, string][] =>
    over === "" ? [["", overName(over, 0)]] : SPANS.map((span) => [`${over} ${span}`, overName(over, span)]),
  );
  if (all.length === 1) return null;
  const choose = (chosen: string): void => {
    const [over = "", span] = chosen.split(" ");
    onChange({ over: over as Over, ...(span ? { span: Number(span) } : {}) });
  };
  const value = question.over && `${question.over} ${question.span}`;
  return (
    <>
      <Choice label={texts.ask.howLong} value={value} options={all} onChange={choose} />{" "}
    </>
  );
}

function Units({ unit, known, onChange }: { unit: string; known: Known | undefined; onChange: (unit: string) => void }) {
  if (!known?.units.some((each) => each !== "")) return null;
  const own = [...new Set([usual(known.units), ...known.units])].filter((each) => each !== "");
  const all = [...new Set(own.flatMap(alike))].filter((each) => own.includes(each) || unitName(each).length <= 4);
  const seen = new Set<string>();
  // Two units that people write alike are one blank.
  const options = all
    .map((each): [string, string] => [each, unitName(each) || texts.ask.noUnit])
    .filter(([each, name]) => each === unit || (!seen.has(name) && seen.add(name)));
  if (options.length === 1) return <span>{options[0]?.[1]}</span>;
  return <Choice label={texts.ask.unit} value={unit} options={options} onChange={onChange} />;
}

function Remarks({ question, facts }: { question: Question; facts: Facts }) {
  const lacks = current.value && lacking(question);
  const { people, place, kind, minutes, property, unit, over, span } = question;
  const remarks: string[] = [];
  if (lacks) remarks.push(texts.ask.needs(texts.ask.lacking[lacks as keyof typeof texts.ask.lacking]));
  if (people) {
    const all = facts.properties.find(({ iri }) => iri === property)?.places ?? new Set(facts.places.map(({ iri }) => iri));
    const some = [...all].filter((each) => facts.watched.has(each));
    if (place ? !facts.watched.has(place) : some.length === 0) remarks.push(texts.ask.notWatched);
    else if (!place && some.length < all.size) remarks.push(texts.ask.watchedPlaces(some.length, all.size));
  }
  if (over === "for") remarks.push(texts.ask.forNote(span));
  if (over === "mean") remarks.push(texts.ask.meanNote(span));
  if (kind === "silent") remarks.push(minutes ? texts.ask.clockNote : texts.ask.promisedNote);
  const told = new Set(facts.properties.find(({ iri }) => iri === property)?.units ?? []);
  const others = alike(unit).filter((each) => each !== unit && told.has(each)).map(unitName);
  if ((kind === "above" || kind === "below") && others.length > 0) remarks.push(texts.ask.otherUnits([...new Set(others)].join(", ")));
  if (remarks.length === 0) return null;
  return <p class="quiet small">{remarks.join(" ")}</p>;
}

interface ChoiceProperties {
  label: string;
  value: string;
  options: [string, string][];
  onChange: (value: string) => void;
}

export function Choice({ label, value, options, onChange }: ChoiceProperties) {
  return (
    <select class="blank" aria-label={label} title={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {options.map(([key, name]) => (
        <option key={key} value={key}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Blank({ label, value, isWrong, onChange }: { label: string; value: string; isWrong: boolean; onChange: (value: string) => void }) {
  return (
    <input
      class="blank"
      type="text"
      inputMode="decimal"
      size={Math.max(value.length, 3)}
      aria-label={label}
      aria-invalid={isWrong}
      value={value}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}
