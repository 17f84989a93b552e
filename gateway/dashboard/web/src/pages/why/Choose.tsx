/** Where a why begins: a value that is here, or a question that is quiet. */

import { useMemo } from "preact/hooks";
import { Age, Empty, Problem, Search, Told } from "../../parts";
import { api } from "../../protocol/http";
import { may, subscriptions } from "../../protocol/session";
import { address, go, href, replaceParameters } from "../../state/address";
import { useLive } from "../../state/live";
import { useLoad } from "../../state/load";
import { called, calledProperty, labelled, streams, structure } from "../../state/streams";
import { value } from "../../state/format";
import { texts } from "../../texts";
import { RULES, ruleOf } from "../control/rules";
import type { Standing } from "../health/standing";
import { type Named, sources } from "./questions";

const MOST_VALUES = 12;

export function SearchHead({ label }: { label: string }) {
  return (
    <div class="head">
      <Search label={label} value={address.value.parameters.find ?? ""} onText={(text) => replaceParameters({ find: text || undefined })} />
    </div>
  );
}

/** Values by name, each with its trail. */
export function Values() {
  const find = (address.value.parameters.find ?? "").trim().toLowerCase();
  structure.value;
  labelled.value;
  const found = useMemo(() => {
    const all = [...streams.values()].map((stream) => ({
      stream,
      name: `${called(stream.place)} · ${calledProperty(stream.property)}`,
    }));
    return all.filter(({ name }) => name.toLowerCase().includes(find)).sort((a, b) => a.name.localeCompare(b.name));
  }, [structure.value, labelled.value, find]);
  return (
    <section>
      <h2>{texts.why.here}</h2>
      {found.length === 0 && <p class="quiet">{texts.why.noValues}</p>}
      <ul class="choices">
        {found.slice(0, MOST_VALUES).map(({ stream, name }) => (
          <li key={stream.key}>
            <a href={href("why", ["trail"], { iri: stream.latest.value.observation })}>
              <Told>{name}</Told>
              <span>
                <bdi class="told">{value(stream.latest.value.value, stream.property)}</bdi>{" "}
                <span class="quiet small">
                  <Age at={stream.latest.value.at} />
                </span>
              </span>
            </a>
          </li>
        ))}
      </ul>
      {found.length > MOST_VALUES && <p class="quiet small">{texts.why.moreValues(found.length - MOST_VALUES)}</p>}
    </section>
  );
}

/** Questions by where they stand, each with why it is quiet; and any other. */
export function Questions() {
  const find = address.value.parameters.find ?? "";
  const saved = useLoad("saved", (ends) => api.get<{ saved: Named[] }>("/saved", {}, ends));
  const listed = useLoad("profiles", (ends) => api.get<{ queries: Named[] }>("/profiles/queries", {}, ends));
  const live = useLoad(may("operations") ? "live" : null, (ends) =>
    api.get<{ subscriptions: Standing[] }>("/subscriptions", {}, ends),
  );
  const ruled = useLive(RULES)?.rows.value;
  const all = useMemo(
    () =>
      sources(
        {
          saved: saved.value?.saved ?? [],
          profiles: listed.value?.queries ?? [],
          rules: (ruled ?? []).map(ruleOf),
          live: live.value?.subscriptions ?? [],
        },
        find,
        (query) => subscriptions.asks(query),
      ),
    [saved.value, listed.value, live.value, ruled, find],
  );
  return (
    <section>
      <h2>{texts.why.quiet}</h2>
      <Problem text={saved.problem || listed.problem || live.problem} />
      {all.map(({ kind, choices }) => (
        <div key={kind} class="source">
          <h3>{texts.why.sources[kind]}</h3>
          <ul class="choices">
            {choices.map((choice) => (
              <li key={choice.key}>
                <a href={href("why", ["quiet"], choice.asked)}>
                  <Told>{choice.title}</Told>
                  <span class="quiet small">
                    <bdi class="told">{choice.detail}</bdi>
                  </span>
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
      {saved.value && listed.value && all.length === 0 && <Empty>{texts.why.noQuestions}</Empty>}
      <Other />
    </section>
  );
}

function Other() {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const query = String(new FormData(event.currentTarget as HTMLFormElement).get("query"));
    go("why", ["quiet"], { query });
  };
  return (
    <details>
      <summary>{texts.why.other}</summary>
      <form class="other" onSubmit={submit}>
        <label>
          SPARQL
          <textarea name="query" rows={6} required spellcheck={false} maxLength={65_536} />
        </label>
        <button type="submit">{texts.why.ask}</button>
      </form>
    </details>
  );
}
