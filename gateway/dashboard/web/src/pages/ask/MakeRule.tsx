/** Make a rule of the question: what it would have done is shown before it is made. */

import { useEffect, useState } from "preact/hooks";
import { tellDone } from "../../frame/undo";
import { Problem, Told } from "../../parts";
import { api, send } from "../../protocol/http";
import { query, update } from "../../protocol/sparql";
import type { Row } from "../../protocol/terms";
import { timeOfDay } from "../../state/format";
import { useLoad } from "../../state/load";
import { called } from "../../state/streams";
import { texts } from "../../texts";
import { answer } from "./answer";
import { openedAs, text } from "./desk";
import { type Commands, lacking, made, newIri, restored, type Rule, RULES, said, unknown, unmade } from "./rule";
import { title } from "./saved";
import { completed, saidIn, variables } from "./text";

/** A rehearsal takes 20 s by its own limit, and waits for a copy of the store before. */
const PATIENCE_MS = 90_000;

interface Actuator {
  id: string;
  name: string;
  feature: string;
  topic: string;
  values?: string[];
  minimum?: number;
  maximum?: number;
}

export function MakeRule({ onDone }: { onDone: () => void }) {
  const [on, setOn] = useState<Rule["on"]>("added");
  const [isMessage, setMessage] = useState(false);
  const [target, setTarget] = useState({ topic: "", payload: "" });
  const [label, setLabel] = useState(openedAs.value ? title({ name: openedAs.value, label: "" }) : saidIn(text.peek(), texts.ask.tellMe));
  const rule: Rule = { sparql: completed(text.value), ...target, on };
  const key = JSON.stringify(rule);
  const columns = columnsOf(rule.sparql);
  const wrong = problemOf(rule, columns);
  return (
    <section class="panel rule" aria-label={texts.ask.rule}>
      <h2 class="wide">{texts.ask.ruleTitle}</h2>
      <label>
        {texts.ask.ruleOn}
        <select value={on} onChange={(event) => setOn(event.currentTarget.value as Rule["on"])}>
          <option value="added">{texts.ask.ruleAdded}</option>
          <option value="removed">{texts.ask.ruleRemoved}</option>
        </select>
      </label>
      <label>
        {texts.ask.ruleDo}
        <select
          value={String(isMessage)}
          onChange={(event) => {
            setMessage(event.currentTarget.value === "true");
            setTarget({ topic: "", payload: "" });
          }}
        >
          <option value="false">{texts.ask.ruleActuator}</option>
          <option value="true">{texts.ask.ruleMessage}</option>
        </select>
      </label>
      {isMessage ? <Message target={target} onChange={setTarget} columns={columns} /> : <Setting target={target} onChange={setTarget} />}
      <label class="wide">
        {texts.ask.ruleLabel}
        <input value={label} maxLength={200} onInput={(event) => setLabel(event.currentTarget.value)} />
      </label>
      {target.topic && wrong && <p class="wide doubtful">{wrong}</p>}
      <Rehearsed key={key} rule={rule} isReady={!wrong} label={label.trim() || target.topic} onDone={onDone} />
      <Existing />
    </section>
  );
}

function columnsOf(sparql: string): string[] {
  const now = answer.peek();
  return now?.text === sparql && now.columns.length > 0 ? [...now.columns] : variables(sparql);
}

function problemOf(rule: Rule, columns: readonly string[]): string {
  const lacks = lacking(rule);
  if (lacks) return lacks === "topic" ? texts.ask.topicLacks : texts.ask.topicWildcard;
  const names = unknown(`${rule.topic} ${rule.payload}`, columns);
  return names.length > 0 ? texts.ask.noVariable(names.map((name) => `?${name}`).join(", ")) : "";
}

interface Target {
  topic: string;
  payload: string;
}

interface TargetProperties {
  target: Target;
  onChange: (target: Target) => void;
}

function Message({ target, onChange, columns }: TargetProperties & { columns: readonly string[] }) {
  return (
    <>
      <label>
        {texts.ask.topic}
        <input value={target.topic} spellcheck={false} onInput={(event) => onChange({ ...target, topic: event.currentTarget.value })} />
      </label>
      <label>
        {texts.ask.payload}
        <input value={target.payload} spellcheck={false} onInput={(event) => onChange({ ...target, payload: event.currentTarget.value })} />
      </label>
      {columns.length > 0 && (
        <p class="wide quiet small">{texts.ask.placesHint(columns.map((name) => `{${name}}`).join(", "))}</p>
      )}
    </>
  );
}

function Setting({ target, onChange }: TargetProperties) {
  const { value, problem } = useLoad("actuators", (signal) => api.get<{ actuators: Actuator[] }>("/actuators", {}, signal));
  const all = value?.actuators ?? [];
  const chosen = all.find(({ topic }) => topic === target.topic);
  const choose = (topic: string): void => {
    const one = all.find((each) => each.topic === topic);
    onChange({ topic, payload: first(one) });
  };
  useEffect(() => {
    if (!target.topic && all[0]) choose(all[0].topic);
  }, [value]);
  return (
    <>
      <Problem text={problem} />
      <label>
        {texts.ask.actuator}
        <select value={target.topic} onChange={(event) => choose(event.currentTarget.value)}>
          {all.map(({ id, name, topic, feature }) => (
            <option key={id} value={topic}>
              {name} · {called(feature)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {texts.ask.to}
        {chosen?.values?.length ? (
          <select value={target.payload} onChange={(event) => onChange({ ...target, payload: event.currentTarget.value })}>
            {chosen.values.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        ) : (
          <input value={target.payload} aria-label={texts.ask.value} onInput={(event) => onChange({ ...target, payload: event.currentTarget.value })} />
        )}
      </label>
    </>
  );
}

/** On, where there is such a word: most rules switch something on. */
function first(actuator: Actuator | undefined): string {
  const values = actuator?.values ?? [];
  return values.find((each) => /^(on|true|open)$/i.test(each)) ?? values[0] ?? String(actuator?.minimum ?? "true");
}

interface RehearsedProperties {
  rule: Rule;
  isReady: boolean;
  label: string;
  onDone: () => void;
}

/** Gone with every change of the rule: what was shown is of the rule that is made. */
function Rehearsed({ rule, isReady, label, onDone }: RehearsedProperties) {
  const [told, setTold] = useState<Commands | null>(null);
  const [problem, setProblem] = useState("");
  const [isAsking, setAsking] = useState(false);
  const rehearse = async (): Promise<void> => {
    setAsking(true);
    setProblem("");
    try {
      const json = { rules: [{ id: label, ...rule }] };
      const answer = await send("/mappings/rehearse", { method: "POST", json, patienceMs: PATIENCE_MS });
      setTold((await answer.json()) as Commands);
    } catch (error) {
      setProblem((error as Error).message);
    }
    setAsking(false);
  };
  const make = async (): Promise<void> => {
    const iri = newIri();
    try {
      await update(made(iri, rule, label));
    } catch (error) {
      setProblem((error as Error).message);
      return;
    }
    onDone();
    tellDone(texts.ask.ruleMade(label), () => update(unmade(iri)));
  };
  const failed = [told?.subscriptions_skipped ?? "", ...(told?.rules_failed ?? []).map(({ reason }) => reason)].filter(Boolean);
  return (
    <div class="wide rehearsed" aria-busy={isAsking}>
      {told && failed.length === 0 && (
        <>
          <p role="status">{texts.ask.wouldSend(told.commands_count, told.messages)}</p>
          <ol>
            {told.commands.slice(-20).map(({ topic, payload, message }, index) => (
              <li key={index}>
                <code>
                  <Told>{`${topic} ${payload}`}</Told>
                </code>{" "}
                {message && (
                  <span class="quiet small">
                    {texts.ask.because} <Told>{message.topic}</Told> {timeOfDay(Date.parse(message.received_at))}
                  </span>
                )}
              </li>
            ))}
          </ol>
          <p class="quiet small">{texts.ask.ruleStarts}</p>
        </>
      )}
      <Problem text={problem || failed.join("; ")} />
      <p class="actions">
        {told && failed.length === 0 ? (
          <button type="button" class="main" onClick={() => void make()}>
            {texts.ask.makeRule}
          </button>
        ) : (
          <button type="button" class="main" disabled={!isReady || isAsking} onClick={() => void rehearse()}>
            {isAsking ? `${texts.ask.rehearsing} …` : texts.ask.rehearse}
          </button>
        )}
        <button type="button" class="plain" onClick={onDone}>
          {texts.ask.cancel}
        </button>
      </p>
    </div>
  );
}

/** Rules that are in force, each to be removed. */
function Existing() {
  const { value, again } = useLoad("rules", (signal) => query(RULES, signal));
  if (!value || value.length === 0) return null;
  const text = (row: Row, name: string): string => row[name]?.value ?? "";
  const remove = async (row: Row): Promise<void> => {
    const iri = text(row, "rule");
    const whole = await query(said(iri));
    await update(unmade(iri));
    again();
    tellDone(texts.ask.ruleRemovedDone(text(row, "label") || text(row, "topic")), () => update(restored(iri, whole)));
  };
  return (
    <details class="wide">
      <summary>{texts.ask.rules}</summary>
      <ul class="rules">
        {value.map((row) => (
          <li key={text(row, "rule")}>
            <Told title={text(row, "rule")}>{text(row, "label") || called(text(row, "rule"))}</Told>
            <code>
              <Told>{`${text(row, "topic")} ${text(row, "payload")}`}</Told>
            </code>
            <button type="button" class="plain" onClick={() => void remove(row).catch((error: Error) => tellDone(error.message))}>
              {texts.ask.removeRule}
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}
