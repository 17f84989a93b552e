/** The members of a mapping as fields; what is refused is said at its field. */

import { useId, useState } from "preact/hooks";
import { Told } from "../../parts";
import { called, calledProperty, places, streams, structure } from "../../state/streams";
import { UNIT } from "../../protocol/terms";
import { unit } from "../../state/format";
import { texts } from "../../texts";
import { type Field, FIRST, FORMATS, MORE, shown } from "./members";
import { mint } from "./rooms";
import type { Mapping } from "./told";
import { PROPERTIES, resolved, type Term, UNITS } from "./vocabulary";

interface Props {
  form: Mapping;
  wrong: { member: string; text: string };
  base: string;
  onChange(name: string, text: string): void;
}

export function MemberForm(props: Props) {
  const { form, wrong } = props;
  const isOpen = MORE.some(({ name }) => shown(form, name) !== "" || wrong.member === name);
  return (
    <form class="fields members" onSubmit={(event) => event.preventDefault()}>
      {FIRST.map((field) => (
        <OneField key={field.name} field={field} {...props} />
      ))}
      <details open={isOpen}>
        <summary class="small">{texts.devices.edits.more}</summary>
        <div class="fields members">
          {MORE.map((field) => (
            <OneField key={field.name} field={field} {...props} />
          ))}
        </div>
      </details>
    </form>
  );
}

function OneField({ field, form, wrong, base, onChange }: Props & { field: Field }) {
  const id = useId();
  const text = shown(form, field.name);
  const isWrong = wrong.member === field.name;
  const set = (value: string): void => onChange(field.name, value);
  return (
    <div class={`field${field.isHalf ? " half" : ""}${isWrong ? " wrong" : ""}`}>
      <label for={id}>
        {texts.devices.edits.fields[field.name]}
        {field.needed && text === "" && <span class="small"> · {texts.devices.edits.needed}</span>}
      </label>
      <Input id={id} kind={field.kind} text={text} base={base} isWrong={isWrong} set={set} />
      {isWrong && (
        <p class="refusal" id={`${id}-wrong`} role="alert">
          <Told>{wrong.text}</Told>
        </p>
      )}
    </div>
  );
}

interface InputProps {
  id: string;
  kind: Field["kind"];
  text: string;
  base: string;
  isWrong: boolean;
  set(text: string): void;
}

function Input(props: InputProps) {
  const { id, kind, text, isWrong, set } = props;
  const told = { id, "aria-invalid": isWrong, "aria-describedby": isWrong ? `${id}-wrong` : undefined };
  if (kind === "format" || kind === "retained") {
    const options = kind === "format" ? FORMATS : ["", "history", "drop"];
    return (
      <select {...told} value={text} onChange={(event) => set(event.currentTarget.value)}>
        {!options.includes(text) && <option value={text}>{text}</option>}
        {options.map((each) => (
          <option key={each} value={each}>
            {kind === "retained" ? texts.devices.edits.retained[each] : each}
          </option>
        ))}
      </select>
    );
  }
  if (kind === "property" || kind === "room") return <TermInput {...props} />;
  if (kind === "unit") {
    return (
      <>
        <input {...told} list={`${id}-list`} value={text.startsWith(UNIT) ? unit(text) : text} onInput={(event) => set(event.currentTarget.value)} />
        <datalist id={`${id}-list`}>
          {UNITS.map((symbol) => (
            <option key={symbol} value={symbol} />
          ))}
        </datalist>
      </>
    );
  }
  const isNumber = kind === "seconds" || kind === "number";
  return (
    <input
      {...told}
      type={isNumber ? "number" : "text"}
      min={kind === "seconds" ? 1 : undefined}
      step={kind === "number" ? "any" : undefined}
      spellcheck={false}
      value={text}
      onInput={(event) => set(event.currentTarget.value)}
    />
  );
}

/** An IRI that is typed by its name: of the vocabulary, of the store, or a room to be. */
function TermInput({ id, kind, text, base, isWrong, set }: InputProps) {
  const terms = kind === "property" ? knownProperties() : places();
  const known = terms.find(({ iri }) => iri === text);
  const [typed, setTyped] = useState<string | null>(null);
  const hear = (value: string): void => {
    setTyped(value);
    const iri = resolved(value, terms);
    // What is no IRI yet is one when somebody leaves the field.
    if (iri === "" || iri.includes(":")) set(iri);
  };
  const settle = (value: string): void => {
    setTyped(null);
    const iri = resolved(value, terms);
    if (iri && !iri.includes(":")) set(kind === "room" ? mint(base, iri) : propertyIri(base, iri));
  };
  const name = text.includes(":") && !text.includes("{") ? (kind === "property" ? calledProperty(text) : called(text)) : "";
  return (
    <>
      <input
        id={id}
        list={`${id}-list`}
        spellcheck={false}
        value={typed ?? known?.name ?? text}
        title={text}
        aria-invalid={isWrong}
        onInput={(event) => hear(event.currentTarget.value)}
        onChange={(event) => settle(event.currentTarget.value)}
        onBlur={() => setTyped(null)}
      />
      {name && !known && (
        <span class="called">
          <Told>{name}</Told>
        </span>
      )}
      <datalist id={`${id}-list`}>
        {terms.map(({ iri, name: each }) => (
          <option key={iri} value={each} label={iri} />
        ))}
      </datalist>
    </>
  );
}

/** A property of one's own. */
function propertyIri(base: string, name: string): string {
  return `${base || "urn:sosa-gateway"}/property/${encodeURIComponent(name)}`;
}

/** Of the vocabulary, and those that streams here have. */
function knownProperties(): Term[] {
  structure.value;
  const known = new Set(PROPERTIES.map(({ iri }) => iri));
  const own = new Set<string>();
  for (const { property } of streams.values()) if (!known.has(property)) own.add(property);
  return [...PROPERTIES, ...[...own].map((iri) => ({ iri, name: calledProperty(iri) }))];
}
