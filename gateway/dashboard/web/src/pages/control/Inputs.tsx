/** The control that fits an actuator: switch, slider, number, choice, colour, cover, text. */

import { useEffect, useRef, useState } from "preact/hooks";
import { short, unit, value as worded } from "../../state/format";
import { texts } from "../../texts";
import { type Actuator, type Control, truth, type Wanted } from "./actuators";
import { fromDevice, toDevice } from "./colour";

interface InputProps<Kind extends Control["kind"] = Control["kind"]> {
  actuator: Actuator;
  control: Extract<Control, { kind: Kind }>;
  /** State as last observed, "" for none; or what is wanted, while that is pending. */
  told: string;
  isPending: boolean;
  label: string;
  send(value: Wanted): void;
}

export function Input(props: InputProps) {
  const { control } = props;
  switch (control.kind) {
    case "switch":
      return <Switch {...props} control={control} />;
    case "slider":
      return <Slider {...props} control={control} />;
    case "choice":
      return <Choice {...props} control={control} />;
    case "colour":
      return <Colour {...props} control={control} />;
    case "cover":
      return <Cover {...props} control={control} />;
    case "number":
      return <Typed {...props} type="number" limits={control} />;
    default:
      return <Typed {...props} type="text" limits={{}} />;
  }
}

function Switch({ actuator, told, isPending, label, send }: InputProps<"switch">) {
  const isOn = truth(told, actuator);
  const words = worded(booleanTerm(isOn ?? false), actuator.property);
  return (
    <button
      type="button"
      class={isPending ? "toggle pending" : "toggle"}
      role="switch"
      aria-checked={isOn === true}
      aria-label={label}
      onClick={() => send(isOn !== true)}
    >
      <span class="knob" aria-hidden="true" />
      <span class="word">{isOn === null ? "–" : words}</span>
    </button>
  );
}

function booleanTerm(isTrue: boolean) {
  return { type: "literal", value: String(isTrue), datatype: "http://www.w3.org/2001/XMLSchema#boolean" } as const;
}

const SETTLED_MS = 400;

function Slider({ actuator, control, told, label, send }: InputProps<"slider">) {
  const { minimum, maximum, step } = control;
  const observed = Number(told);
  const known = told !== "" && Number.isFinite(observed) ? observed : minimum;
  const [moved, setMoved] = useState<number | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  useEffect(() => () => clearTimeout(timer.current), []);
  // Arrow keys come one by one: what is wanted is where they end.
  const settle = (value: number): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setMoved(null);
      send(value);
    }, SETTLED_MS);
  };
  const shown = moved ?? known;
  return (
    <span class="slider">
      <input
        type="range"
        aria-label={label}
        min={minimum}
        max={maximum}
        step={step}
        value={shown}
        onInput={(event) => setMoved(event.currentTarget.valueAsNumber)}
        onChange={(event) => settle(event.currentTarget.valueAsNumber)}
      />
      <output>
        {told === "" && moved === null ? "–" : short(shown)} <span class="quiet small">{unit(actuator.unit)}</span>
      </output>
    </span>
  );
}

const FEW = 4;

function Choice({ control, told, isPending, label, send }: InputProps<"choice">) {
  const isNow = (word: string): boolean => word.toLowerCase() === told.toLowerCase();
  if (control.words.length <= FEW) {
    return (
      <span class="switch" role="group" aria-label={label}>
        {control.words.map((word) => (
          <button
            key={word}
            type="button"
            class={isPending && isNow(word) ? "pending" : ""}
            aria-pressed={isNow(word)}
            onClick={() => send(word)}
          >
            <bdi class="told">{word}</bdi>
          </button>
        ))}
      </span>
    );
  }
  const current = control.words.find(isNow) ?? "";
  return (
    <select aria-label={label} value={current} onChange={(event) => event.currentTarget.value && send(event.currentTarget.value)}>
      {current === "" && <option value="">{texts.control.chooseOne}</option>}
      {control.words.map((word) => (
        <option key={word} value={word}>
          {word}
        </option>
      ))}
    </select>
  );
}

function Colour({ control, told, label, send }: InputProps<"colour">) {
  const hex = fromDevice(told, control.form);
  return (
    <input
      type="color"
      aria-label={label}
      value={hex || "#ffffff"}
      onChange={(event) => send(toDevice(event.currentTarget.value, control.form))}
    />
  );
}

function Cover({ control, label, send }: InputProps<"cover">) {
  const buttons = [
    [control.open, texts.control.open],
    [control.stop, texts.control.stop],
    [control.close, texts.control.close],
  ] as const;
  return (
    <span class="switch" role="group" aria-label={label}>
      {buttons.map(([word, text]) => word !== null && (
        <button key={word} type="button" onClick={() => send(word)}>
          {text}
        </button>
      ))}
    </span>
  );
}

interface TypedProps extends InputProps {
  type: "text" | "number";
  limits: { minimum?: number | undefined; maximum?: number | undefined; step?: number | undefined };
}

function Typed({ actuator, told, label, send, type, limits }: TypedProps) {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem("value") as HTMLInputElement;
    send(type === "number" ? field.valueAsNumber : field.value);
    field.value = "";
  };
  return (
    <form class="typed" onSubmit={submit}>
      <input
        name="value"
        type={type}
        aria-label={label}
        placeholder={told}
        min={limits.minimum}
        max={limits.maximum}
        step={limits.step ?? "any"}
        required
      />
      <span class="quiet small">{unit(actuator.unit)}</span>
      <button type="submit">{texts.control.set}</button>
    </form>
  );
}
