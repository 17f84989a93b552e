/** Beneath an actuator: its last commands, the rules that command it, and a command for later. */

import { useState } from "preact/hooks";
import { Problem, Told } from "../../parts";
import { send } from "../../protocol/http";
import { href } from "../../state/address";
import { whole } from "../../state/format";
import { tellDone } from "../../frame/undo";
import { texts } from "../../texts";
import { type Actuator, controlOf, type Wanted } from "./actuators";
import type { Command } from "./commands";
import { changed } from "./Delayed";
import { Became, wanted, when } from "./Line";
import { type Commanding, commanding, commandText, type Rule } from "./rules";

const MOST_SHOWN = 10;

interface DetailsProps {
  actuator: Actuator;
  commands: Command[];
  rules: Rule[];
  isReady: boolean;
  mayCommand: boolean;
}

export function Details({ actuator, commands, rules, isReady, mayCommand }: DetailsProps) {
  const found = commanding(rules, actuator);
  return (
    <div class="details">
      <section>
        <h3>{texts.control.last}</h3>
        {commands.length === 0 ? (
          isReady && <p class="quiet">{texts.control.none}</p>
        ) : (
          <table class="last-commands">
            <thead>
              <tr>
                {Object.values(texts.control.columns).map((name) => (
                  <th key={name}>{name}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {commands.slice(0, MOST_SHOWN).map((each) => (
                <tr key={each.id}>
                  <td>
                    <Told>{wanted(each.value, actuator.property)}</Told>
                  </td>
                  <td title={whole(each.requestedAt)}>{when(each.requestedAt)}</td>
                  <td class="quiet">{each.isOwn ? texts.control.you : texts.control.somebody}</td>
                  <td>
                    <Became command={each} property={actuator.property} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
      <section>
        <h3>{texts.control.rules}</h3>
        {isReady && found.length === 0 && <p class="quiet">{texts.control.noRules}</p>}
        <ul class="rules">
          {found.map((each) => (
            <RuleLine key={each.rule.iri} commanding={each} />
          ))}
        </ul>
      </section>
      {mayCommand && <Later actuator={actuator} />}
    </div>
  );
}

function RuleLine({ commanding: { rule, isStraight } }: { commanding: Commanding }) {
  const asked = rule.query ? { name: rule.query } : { query: rule.text };
  return (
    <li>
      <Told title={rule.iri}>{rule.name}</Told>
      <span>
        <code class="told">{rule.payload}</code> <span class="quiet">{texts.control.rule[rule.on]}</span>
        {rule.query && <> · <bdi class="told">{rule.query}</bdi></>}
        {isStraight && <span class="quiet"> · {texts.control.straight}</span>}
      </span>
      <a href={href("why", ["quiet"], asked)}>{texts.control.quiet}</a>
    </li>
  );
}

/** The words, or what a device of this kind is told: as the text of a field. */
function read(text: string, actuator: Actuator): Wanted {
  const { kind } = controlOf(actuator);
  if (kind === "slider" || kind === "number") return Number(text);
  if (kind === "switch" && (text === "true" || text === "false")) return text === "true";
  return text;
}

function Later({ actuator }: { actuator: Actuator }) {
  const [problem, setProblem] = useState("");
  const control = controlOf(actuator);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const value = read(String(given.get("value")), actuator);
    const minutes = Number(given.get("minutes"));
    try {
      const answer = await send("/update", {
        method: "POST",
        parameters: { delay: Math.round(minutes * 60) },
        headers: { "Content-Type": "application/sparql-update" },
        body: commandText(`urn:uuid:${uuid()}`, actuator, value),
      });
      const { id } = (await answer.json()) as { id: string };
      setProblem("");
      changed.value += 1;
      tellDone(texts.control.laterDone(actuator.name, wanted(value, actuator.property), String(minutes)), async () => {
        await send(`/update/delayed/${encodeURIComponent(id)}`, { method: "DELETE" });
        changed.value += 1;
      });
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <section>
      <h3>{texts.control.later}</h3>
      <form class="later" onSubmit={(event) => void submit(event)}>
        <label>
          {texts.control.laterValue}
          <ValueField control={control} property={actuator.property} />
        </label>
        <label>
          {texts.control.laterIn}
          <input name="minutes" type="number" min="0.1" max="525600" step="any" value="10" required />
        </label>
        <button type="submit">{texts.control.laterGo}</button>
      </form>
      <Problem text={problem} />
    </section>
  );
}

function ValueField({ control, property }: { control: ReturnType<typeof controlOf>; property: string }) {
  if (control.kind === "slider" || control.kind === "number") {
    return <input name="value" type="number" min={control.minimum} max={control.maximum} step={control.step ?? "any"} required />;
  }
  const words = wordsOf(control, property);
  if (!words) return <input name="value" required />;
  return (
    <select name="value">
      {words.map(([sent, said]) => (
        <option key={sent} value={sent}>
          {said}
        </option>
      ))}
    </select>
  );
}

function wordsOf(control: ReturnType<typeof controlOf>, property: string): [string, string][] | null {
  if (control.kind === "switch") return [false, true].map((each) => [String(each), wanted(each, property)]);
  if (control.kind === "choice") return control.words.map((each) => [each, each]);
  if (control.kind === "cover") {
    return [control.open, control.close, control.stop].flatMap((each) => (each ? [[each, each] as [string, string]] : []));
  }
  return null;
}

/** crypto.randomUUID is there over TLS and on loopback alone. */
function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const text = [...bytes].map((each) => each.toString(16).padStart(2, "0")).join("");
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
