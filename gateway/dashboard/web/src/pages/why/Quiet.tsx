/** Why is this quiet: the first part that starves, what nearly was a row, and the rows that pass. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Age, Empty, Problem, Skeleton, Told } from "../../parts";
import { api } from "../../protocol/http";
import { subscriptions } from "../../protocol/session";
import { isNumeric, type Term } from "../../protocol/terms";
import { href } from "../../state/address";
import { number, short, timeOfDay, whole } from "../../state/format";
import { useLive } from "../../state/live";
import { useLoad } from "../../state/load";
import { called } from "../../state/streams";
import { texts } from "../../texts";
import { RULES, ruleOf } from "../control/rules";
import type { Standing } from "../health/standing";
import { counted, type Passing, passing, rowText } from "./changes";
import { Onward, Stations } from "./Stations";
import { type Near, partsOf, type Quiet as QuietOf } from "./stations";

const LOOK_AGAIN_MS = 5_000;

interface Asked {
  name?: string | undefined;
  query?: string | undefined;
}

export function Quiet({ name, query }: Asked) {
  const { value, problem, again } = useLoad(`${name}\n${query}`, () =>
    api.post<QuietOf>("/why/quiet", name ? { name } : { query }),
  );
  return (
    <>
      <h1>{name ? <Told>{name}</Told> : texts.why.quiet}</h1>
      <Problem text={problem} again={again} />
      {!value && !problem && <Skeleton lines={6} />}
      {value && <Answer quiet={value} again={again} name={name} />}
    </>
  );
}

/** By the id that a trail told. */
export function OfSubscription({ spuid }: { spuid: string }) {
  const { value, problem, again } = useLoad(spuid, (ends) =>
    api.get<{ subscriptions: Standing[] }>("/subscriptions", {}, ends),
  );
  if (!value) return problem ? <Problem text={problem} again={again} /> : <Skeleton lines={6} />;
  const found = value.subscriptions.find((each) => each.spuid === spuid);
  return found ? <Quiet query={found.query} /> : <Empty>{texts.why.resolving}</Empty>;
}

/** By the IRI of a rule that asks it. */
export function OfRule({ rule }: { rule: string }) {
  const live = useLive(RULES);
  if (live?.problem.value) return <Problem text={live.problem.value} />;
  if (!live?.isThere.value) return <Skeleton lines={6} />;
  const found = live.rows.value.map(ruleOf).find(({ iri }) => iri === rule);
  if (!found) return <Empty>{texts.why.resolving}</Empty>;
  return found.query ? <Quiet name={found.query} /> : <Quiet query={found.text} />;
}

function Answer({ quiet, again, name }: { quiet: QuietOf; again(): void; name?: string | undefined }) {
  const passed = usePassing(quiet.query, again);
  const starved = quiet.first_starved;
  const first = starved === null ? undefined : quiet.patterns[starved];
  return (
    <>
      <p class="verdict" role="status">
        {quiet.rows > 0 ? (
          texts.why.hasRows(texts.why.words.count(quiet.rows, quiet.most))
        ) : first ? (
          <>
            <span class="person">{texts.why.starves}</span> <code class="told">{first.text}</code>
          </>
        ) : (
          texts.why.noRows
        )}
      </p>
      {!quiet.whole && <p class="doubt">{texts.why.notWhole}</p>}
      {quiet.near.length > 0 && (
        <section>
          <h2>{texts.why.near}</h2>
          <ul class="near">
            {quiet.near.map((each, at) => (
              <NearMiss key={`${at} ${each.what}`} near={each} />
            ))}
          </ul>
        </section>
      )}
      <section>
        <h2>{texts.why.parts}</h2>
        <Stations stations={partsOf(quiet, texts.why.words)} across={false} label={texts.why.parts} />
      </section>
      <section class="passing">
        <h2>{texts.why.passing}</h2>
        <Problem text={passed.problem} />
        {passed.rows !== null && <p>{texts.why.rowsNow(short(passed.rows))}</p>}
        {passed.all.length === 0 && !passed.problem && <p class="quiet">{texts.why.nothingPassed}</p>}
        <ol>
          {passed.all.map((each) => (
            <Passed key={each.id} passing={each} />
          ))}
        </ol>
      </section>
      <section>
        <details>
          <summary>{texts.why.text}</summary>
          <pre tabIndex={0}>{quiet.query}</pre>
        </details>
        <p class="onward">
          <button type="button" onClick={again}>
            {texts.why.again}
          </button>
          <a href={name ? href("ask", [name]) : href("ask", [], { query: quiet.query })}>{texts.why.change}</a>
        </p>
      </section>
    </>
  );
}

function NearMiss({ near }: { near: Near }) {
  return (
    <li>
      <p>
        <strong><bdi class="told">{near.reason}</bdi></strong>{" "}
        {near.since && (
          <span class="quiet small">
            <Age at={Date.parse(near.since)} />
          </span>
        )}
      </p>
      <p>
        <bdi class="told">{near.advice}</bdi> {near.link && <Onward link={near.link} text={texts.why.mend[near.link.kind] ?? texts.why.open} />}
      </p>
      <p class="quiet small">
        <code class="told">{near.what}</code>
      </p>
    </li>
  );
}

interface PassingState {
  all: readonly Passing[];
  rows: number | null;
  problem: string;
}

/** The rows that come and go while this is shown; asks again where they did. */
function usePassing(query: string, again: () => void): PassingState {
  const [state, setState] = useState<PassingState>({ all: [], rows: null, problem: "" });
  const timer = useRef<ReturnType<typeof setTimeout>>();
  useEffect(() => {
    setState({ all: [], rows: null, problem: "" });
    const held = subscriptions.subscribe(query, {
      onChange: (change) => {
        setState((before) => ({
          all: passing(before.all, change),
          rows: counted(before.rows ?? 0, change),
          problem: "",
        }));
        if (change.first || timer.current) return;
        timer.current = setTimeout(() => {
          timer.current = undefined;
          again();
        }, LOOK_AGAIN_MS);
      },
      onError: (problem) => setState((before) => ({ ...before, problem })),
    });
    return () => {
      clearTimeout(timer.current);
      timer.current = undefined;
      held.end();
    };
  }, [query]);
  return state;
}

function Passed({ passing: one }: { passing: Passing }) {
  return (
    <li class={one.came ? "came" : "went"}>
      <time title={whole(one.at)}>{timeOfDay(one.at)}</time>
      <span class="small">{one.came ? texts.why.came : texts.why.went}</span>
      <span>
        {rowText(one.row, say).map(([name, value]) => (
          <span key={name} class="cell">
            <span class="quiet small">{name}</span> <bdi class="told">{value}</bdi>{" "}
          </span>
        ))}
      </span>
    </li>
  );
}

function say(term: Term): string {
  if (term.type === "uri") return called(term.value);
  return isNumeric(term) ? number(term.value) : term.value;
}
