/** The answer: one number, yes or no, a table, a chart, its changes; and what can be taken along. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { Badge, Empty, Problem, Skeleton, Told } from "../../parts";
import { me } from "../../protocol/session";
import { isNumeric } from "../../protocol/terms";
import { short, value } from "../../state/format";
import { places } from "../../state/streams";
import { texts } from "../../texts";
import { type Answer, answer } from "./answer";
import { Changes } from "./Changes";
import { written } from "./Cell";
import { Chart } from "./Chart";
import { openedAs, text } from "./desk";
import { csv, download, json } from "./download";
import { Rows } from "./Rows";
import { type Columns, columnsOf, oneNumber } from "./shape";
import { type Order, ordering, place, wrong } from "./text";
import { nameOf, title } from "./saved";
import { Standing } from "./Scope";
import { Seen } from "./Windows";

type View = "table" | "chart" | "changes";

const MANY_POINTS = 12;

export function Result() {
  const now = answer.value;
  useTitle(now);
  if (!now) return null;
  return (
    <section class="result" aria-label={texts.pages.ask} aria-busy={!now.isThere && !now.problem}>
      <Failed now={now} />
      {!now.isThere && !now.problem && <Skeleton lines={4} />}
      {now.isThere && <Seen now={now} />}
      {now.isThere && now.federation && <Standing told={now.federation} />}
      {now.isThere && <Given key={now.text} now={now} />}
    </section>
  );
}

/** How many rows there are, in the tab's title while somebody watches. */
function useTitle(now: Answer | null): void {
  const count = now?.isLive && now.isThere ? (now.truth === null ? short(now.total) : now.truth ? texts.ask.yes : texts.ask.no) : "";
  const name = openedAs.value ? title({ name: openedAs.value, label: "" }) : texts.pages.ask;
  useEffect(() => {
    if (!count) return undefined;
    const before = `${texts.pages.ask} · ${me.peek()?.name ?? "sosa-gateway"}`;
    document.title = `(${count}) ${name}`;
    return () => {
      document.title = before;
    };
  }, [count, name]);
}

function Failed({ now }: { now: Answer }) {
  // What is wrong with a text is no longer said once it is another.
  if (!now.problem || now.text !== text.value) return null;
  const at = place(now.problem);
  const where = at ? texts.ask.atLine(at.line, at.column) : "";
  return <Problem text={where + wrong(now.problem)} />;
}

function Given({ now }: { now: Answer }) {
  const [view, setView] = useState<View | null>(null);
  const [order, setOrder] = useState<readonly Order[]>(() => (now.isLive ? ordering(now.text) : []));
  const [byPlace, setByPlace] = useState(false);
  const known = places();
  const columns = useMemo(
    () => columnsOf(now.columns, now.rows, new Set(known.map(({ iri }) => iri))),
    [now.columns, now.rows, known.length],
  );
  const first = view ?? starting(now, columns);
  const views: View[] = ["table"];
  if (columns.numbers.length > 0) views.push("chart");
  if (now.notes.length > 0) views.push("changes");
  return (
    <>
      <div class="result-head">
        <Count now={now} />
        {now.truth === null && views.length > 1 && (
          <div class="switch" role="group" aria-label={texts.ask.view}>
            {views.map((each) => (
              <button key={each} type="button" aria-pressed={each === first} onClick={() => setView(each)}>
                {texts.ask.views[each]}
              </button>
            ))}
          </div>
        )}
        {first === "table" && columns.places.length > 0 && now.rows.length > 1 && (
          <button type="button" class="plain" aria-pressed={byPlace} onClick={() => setByPlace(!byPlace)}>
            {texts.ask.byPlace}
          </button>
        )}
        <span class="grow" />
        <Files now={now} />
      </div>
      <Body now={now} view={first} columns={columns} order={order} onOrder={setOrder} byPlace={byPlace} />
    </>
  );
}

/** Something over time is seen as a chart first; everything else as a table. */
function starting(now: Answer, columns: Columns): View {
  const isSeries = columns.times.length === 1 && columns.numbers.length === 1 && now.rows.length >= MANY_POINTS;
  return isSeries && !now.isLive ? "chart" : "table";
}

function Count({ now }: { now: Answer }) {
  return (
    <p class="counted" role="status">
      {now.truth === null && <strong>{texts.ask.rows(short(now.total), now.total === 1)}</strong>}{" "}
      <span class="quiet">{texts.ask.took(short(Math.round(now.tookMs)))}</span>{" "}
      {now.isLive && <Badge tone="good">{texts.ask.live}</Badge>}
      {!now.isLive && now.notes.length > 0 && <Badge>{texts.ask.stopped}</Badge>}
      {now.text !== text.value && <Badge tone="doubt">{texts.ask.older}</Badge>}
    </p>
  );
}

function Files({ now }: { now: Answer }) {
  if (now.truth !== null || now.total === 0) return null;
  const name = (openedAs.value || nameOf(texts.pages.ask)).toLowerCase();
  return (
    <>
      <button type="button" class="plain" title={texts.ask.downloadAs(texts.ask.csv)} onClick={() => download(`${name}.csv`, "text/csv;charset=utf-8", csv(now.columns, now.rows))}>
        {texts.ask.csv}
      </button>
      <button type="button" class="plain" title={texts.ask.downloadAs(texts.ask.json)} onClick={() => download(`${name}.json`, "application/sparql-results+json", json(now.columns, now.rows))}>
        {texts.ask.json}
      </button>
    </>
  );
}

interface BodyProperties {
  now: Answer;
  view: View;
  columns: Columns;
  order: readonly Order[];
  onOrder: (order: readonly Order[]) => void;
  byPlace: boolean;
}

function Body({ now, view, columns, order, onOrder, byPlace }: BodyProperties) {
  if (view === "changes") return <Changes notes={now.notes} names={now.columns} />;
  if (now.truth !== null) return <p class="large">{now.truth ? texts.ask.yes : texts.ask.no}</p>;
  if (now.rows.length === 0) return <Empty>{now.isLive ? texts.ask.emptyLive : texts.ask.empty}</Empty>;
  if (view === "chart") return <Chart rows={now.rows} columns={columns} />;
  const only = oneNumber(now.columns, now.rows);
  if (only && isNumeric(only.row[only.column])) {
    const term = only.row[only.column];
    return (
      <p class="large">
        <Told>{term ? value(term) : ""}</Told>
        <span class="quiet"> {only.row.unit ? written(only.row.unit) : ""}</span>
        <span class="quiet small of">{only.column}</span>
      </p>
    );
  }
  return <Rows names={now.columns} rows={now.rows} columns={columns} order={order} onOrder={onOrder} byPlace={byPlace} />;
}
