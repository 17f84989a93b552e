/** One of the three columns: its word, its list, a part at a time. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { texts } from "../../texts";

const STEP = 40;

interface Props<T> {
  name: "heard" | "proposed" | "used";
  all: T[];
  keyOf(one: T): string;
  children(one: T): ComponentChildren;
  empty: string;
  find: string;
  foot?: ComponentChildren;
}

export function Column<T>({ name, all, keyOf, children, empty, find, foot }: Props<T>) {
  const [shown, setShown] = useState(STEP);
  const left = all.length - shown;
  return (
    <section class={`column ${name}`} aria-labelledby={`column-${name}`}>
      <h2 id={`column-${name}`}>
        {texts.devices.columns[name]} <span class="quiet small">{all.length || ""}</span>
      </h2>
      <p class="hint quiet small">{texts.devices.columnHints[name]}</p>
      {all.length === 0 && <p class="nothing quiet">{find ? texts.devices.emptyFind(find) : empty}</p>}
      <ul class="things">
        {all.slice(0, shown).map((one) => (
          <li key={keyOf(one)}>{children(one)}</li>
        ))}
      </ul>
      {left > 0 && (
        <button type="button" class="plain" onClick={() => setShown(shown + STEP)}>
          {texts.devices.more(Math.min(left, STEP))}
        </button>
      )}
      {foot}
    </section>
  );
}
