/** Which gateways are asked and how; and under an answer, how each of them is in it. */

import { useEffect } from "preact/hooks";
import { Age, Badge, Told } from "../../parts";
import { introduce, may, me } from "../../protocol/session";
import type { Federated, Scope } from "../../protocol/subscription";
import type { Term } from "../../protocol/terms";
import { whole } from "../../state/format";
import { texts } from "../../texts";
import { awaySince, follow } from "./away";
import { scope } from "./desk";
import { MODES, standing } from "./scope";

const HERE = "here";
const SOME = "some";

/** Offered where there are others, to who may ask them. */
export function Of() {
  // Who is a member may have changed since somebody signed in.
  useEffect(() => {
    void introduce().catch(() => undefined);
  }, []);
  const names = me.value?.gateways ?? [];
  if (names.length < 2 || !may("federate")) return null;
  const now = scope.value;
  const chosen = now === null ? HERE : now.gateways === "all" ? "all" : SOME;
  const choose = (of: string): void => {
    const mode = now?.mode ?? "union";
    scope.value = of === HERE ? null : { gateways: of === SOME ? names : "all", mode };
  };
  return (
    <fieldset class="scope">
      <legend class="hidden">{texts.ask.scope.title}</legend>
      <label>
        {texts.ask.scope.title}
        <select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
          <option value={HERE}>{texts.ask.scope.here}</option>
          <option value="all">{texts.ask.scope.all(names.length)}</option>
          <option value={SOME}>{texts.ask.scope.some}</option>
        </select>
      </label>
      {now && <Named now={now} names={names} />}
      {now && <Mode now={now} />}
    </fieldset>
  );
}

function Named({ now, names }: { now: Scope; names: readonly string[] }) {
  const { gateways, mode } = now;
  if (gateways === "all") return null;
  const toggle = (name: string): void => {
    const left = gateways.includes(name) ? gateways.filter((each) => each !== name) : [...gateways, name];
    // One is asked at least: nobody is no scope.
    if (left.length > 0) scope.value = { gateways: left, mode };
    else scope.value = { gateways, mode };
  };
  return (
    <span class="named-gateways">
      {names.map((name) => (
        <label key={name} class="check">
          <input
            type="checkbox"
            checked={gateways.includes(name)}
            disabled={gateways.length === 1 && gateways.includes(name)}
            onChange={() => toggle(name)}
          />
          <Told>{name}</Told>
        </label>
      ))}
    </span>
  );
}

function Mode({ now }: { now: Scope }) {
  const { gateways, mode } = now;
  return (
    <>
      <label>
        {texts.ask.scope.mode}
        <select
          value={mode}
          onChange={(event) => {
            scope.value = { gateways, mode: event.currentTarget.value as Scope["mode"] };
          }}
        >
          {MODES.map((each) => (
            <option key={each} value={each}>
              {texts.ask.scope.modes[each]}
            </option>
          ))}
        </select>
      </label>
      <span class="quiet small">{texts.ask.scope.means[mode]}</span>
    </>
  );
}

/** How each gateway is in the answer. */
export function Standing({ told }: { told: Federated }) {
  useEffect(follow, []);
  return (
    <ul class="standing" aria-label={texts.ask.scope.standing}>
      {standing(told, awaySince).map(({ name, state, since, position }) => (
        <li key={name} data-gateway={name} data-state={state}>
          <Badge
            tone={state === "there" ? "good" : state === "stale" ? "doubt" : "person"}
            title={state === "there" ? texts.ask.scope.stands(position) : texts.ask.scope.states[state]}
          >
            <bdi class="told">{name}</bdi>
          </Badge>
          {state === "missing" && <span class="small">{texts.ask.scope.missing}</span>}
          {state === "stale" && (
            <span class="small">
              {texts.ask.scope.stale} <Age at={since} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Which gateway a row came from; in doubt where that is away. */
export function From({ term }: { term: Term | undefined }) {
  if (!term) return null;
  const away = awaySince(term.value);
  return (
    <Badge tone={away === undefined ? "" : "doubt"} title={away === undefined ? undefined : texts.ask.scope.staleSince(whole(away))}>
      <bdi class="told">{term.value}</bdi>
      {away !== undefined && ` · ${texts.ask.scope.staleWord}`}
    </Badge>
  );
}
