/** UPDATEs that wait: what they will do, when, and their end. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Problem, Told } from "../../parts";
import { api, send } from "../../protocol/http";
import { now } from "../../state/clock";
import { age, whole } from "../../state/format";
import { useLoad } from "../../state/load";
import { tellDone } from "../../frame/undo";
import { texts } from "../../texts";
import type { Actuator } from "./actuators";
import { type Delayed, willCommand } from "./rules";
import { wanted } from "./Line";

const EVERY_MS = 5000;

/** Counts what this page has added and cancelled. */
export const changed = signal(0);

export function Waiting({ actuators }: { actuators: readonly Actuator[] }) {
  const { value: shown, problem, again } = useLoad(
    "delayed",
    (ends) => api.get<{ delayed: Delayed[] }>("/update/delayed", {}, ends),
    EVERY_MS,
  );
  const turn = changed.value;
  useEffect(() => {
    if (turn > 0) again();
  }, [turn]);
  if (problem) return <Problem text={problem} again={again} />;
  const waiting = (shown?.delayed ?? []).filter(({ due }) => Date.parse(due) > now.value - EVERY_MS);
  return (
    <section class="waiting">
      <h2>{texts.control.delayed}</h2>
      {shown && waiting.length === 0 && <p class="quiet">{texts.control.noDelayed}</p>}
      <ul>
        {waiting.map((each) => (
          <One key={each.id} delayed={each} actuators={actuators} />
        ))}
      </ul>
    </section>
  );
}

function One({ delayed, actuators }: { delayed: Delayed; actuators: readonly Actuator[] }) {
  const due = Date.parse(delayed.due);
  const will = willCommand(delayed, actuators);
  const value = will && (will.value === "true" || will.value === "false" ? will.value === "true" : will.value);
  const what = will && value !== null ? `${will.actuator.name} → ${wanted(value, will.actuator.property)}` : texts.control.anUpdate;
  return (
    <li data-delayed={delayed.id}>
      <time dateTime={delayed.due} title={whole(due)}>
        {texts.control.due(age(due - now.value))}
      </time>
      <details>
        <summary>
          <Told>{what}</Told>
        </summary>
        <pre>{delayed.sparql}</pre>
      </details>
      <button type="button" onClick={() => void cancel(delayed, what)}>
        {texts.control.cancel}
      </button>
    </li>
  );
}

async function cancel(delayed: Delayed, what: string): Promise<void> {
  try {
    await api.delete(`/update/delayed/${encodeURIComponent(delayed.id)}`);
    tellDone(texts.control.cancelled(what), isPlain(delayed) ? () => sendAgain(delayed) : null);
  } catch (error) {
    tellDone((error as Error).message);
  }
  changed.value += 1;
}

function isPlain(delayed: Delayed): boolean {
  return !delayed["using-graph-uri"]?.length && !delayed["using-named-graph-uri"]?.length;
}

async function sendAgain(delayed: Delayed): Promise<void> {
  await send("/update", {
    method: "POST",
    parameters: { at: delayed.due },
    headers: { "Content-Type": "application/sparql-update" },
    body: delayed.sparql,
  });
  changed.value += 1;
}
