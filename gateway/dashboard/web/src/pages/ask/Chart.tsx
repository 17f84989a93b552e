/** A numeric column as a picture: over a time column, or as bars. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Empty, Problem, Skeleton, Told } from "../../parts";
import { value } from "../../state/format";
import { texts } from "../../texts";
import { written } from "./Cell";
import { aligned, type Columns, lines } from "./shape";
import { Choice } from "./Sentence";
import type { Shown } from "./table";

const MOST_BARS = 100;

interface Properties {
  rows: readonly Shown[];
  columns: Columns;
}

export function Chart({ rows, columns }: Properties) {
  const [number, setNumber] = useState("");
  const [over, setOver] = useState<string | null>(null);
  const chosen = columns.numbers.includes(number) ? number : (columns.numbers[0] ?? "");
  if (!chosen) return <Empty>{texts.ask.noNumber}</Empty>;
  const time = over !== null && (over === "" || columns.times.includes(over)) ? over : (columns.times[0] ?? "");
  const by = columns.places[0] ?? columns.things[0] ?? "";
  return (
    <figure class="chart" aria-label={texts.ask.chartOf(chosen)}>
      <div class="chart-head">
        {columns.numbers.length > 1 && (
          <Choice label={texts.ask.number} value={chosen} options={columns.numbers.map((name) => [name, name])} onChange={setNumber} />
        )}
        {columns.times.length > 0 && (
          <Choice
            label={texts.ask.over}
            value={time}
            options={[...columns.times.map((name): [string, string] => [name, name]), ["", texts.ask.rowsAsBars]]}
            onChange={setOver}
          />
        )}
      </div>
      {time ? <Over rows={rows} time={time} number={chosen} by={by} /> : <Bars rows={rows} number={chosen} columns={columns} />}
    </figure>
  );
}

/** Each row a bar, its length the number; below zero to the left. */
function Bars({ rows, number, columns }: Properties & { number: string }) {
  const shown = rows.filter(({ count, row }) => count > 0 && row[number] !== undefined);
  const numbers = shown.map(({ row }) => Number(row[number]?.value)).filter(Number.isFinite);
  const top = Math.max(0, ...numbers);
  const bottom = Math.min(0, ...numbers);
  const extent = top - bottom || 1;
  const named = [...columns.places, ...columns.things.filter((name) => !columns.places.includes(name))].filter((name) => name !== "unit").slice(0, 1);
  return (
    <>
      <ol class="bars">
        {shown.slice(0, MOST_BARS).map(({ id, row }) => {
          const term = row[number];
          const size = Number(term?.value) || 0;
          const unit = row.unit ? written(row.unit) : "";
          return (
            <li key={id}>
              <Told>{named.map((name) => (row[name] ? written(row[name]) : "")).join(" · ")}</Told>
              <span class="bar" aria-hidden="true">
                <i
                  style={{
                    left: `${(100 * (Math.min(size, 0) - bottom)) / extent}%`,
                    width: `${(100 * Math.abs(size)) / extent}%`,
                  }}
                />
              </span>
              <span class="number">
                {term ? value(term) : ""} <span class="quiet">{unit}</span>
              </span>
            </li>
          );
        })}
      </ol>
      {shown.length > MOST_BARS && <p class="quiet small">{texts.ask.mostBars(MOST_BARS)}</p>}
    </>
  );
}

const HEIGHT = 320;

interface OverProperties {
  rows: readonly Shown[];
  time: string;
  number: string;
  by: string;
}

function Over({ rows, time, number, by }: OverProperties) {
  const box = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<"loading" | "there" | "failed">("loading");
  const all = lines(rows, time, number, by);
  const names = all.map(({ name }) => name).join("\n");
  const last = useRef(all);
  last.current = all;
  const plot = useRef<{ setData(data: never): void; destroy(): void } | null>(null);
  useEffect(() => {
    let isOver = false;
    let observer: ResizeObserver | undefined;
    import("./plot").then(
      ({ draw }) => {
        const element = box.current;
        if (isOver || !element) return;
        const drawn = draw(element, last.current, HEIGHT);
        plot.current = drawn as never;
        observer = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height: HEIGHT }));
        observer.observe(element);
        setState("there");
      },
      () => setState("failed"),
    );
    return () => {
      isOver = true;
      observer?.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [names, time, number]);
  useEffect(() => plot.current?.setData(aligned(last.current) as never), [rows]);
  return (
    <>
      {state === "loading" && <Skeleton lines={4} />}
      {state === "failed" && <Problem text={texts.frame.broken} />}
      <div ref={box} class="plot" />
    </>
  );
}
