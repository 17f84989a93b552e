/** The table of an answer: sorted, grouped, its rows marked as they come and go; long ones in part. */

import { memo } from "preact/compat";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Told } from "../../parts";
import { may } from "../../protocol/session";
import { href } from "../../state/address";
import { texts } from "../../texts";
import { answer } from "./answer";
import { Cell, observationOf, written } from "./Cell";
import { From } from "./Scope";
import { GATEWAY } from "./scope";
import { type Columns, groupedBy, sorted } from "./shape";
import type { Shown } from "./table";
import type { Order } from "./text";

/** Beyond so many rows only those that are seen are drawn. */
const MOST_DRAWN = 200;
const LINE = 37;
const MARGIN = 10;

interface Properties {
  names: readonly string[];
  rows: readonly Shown[];
  columns: Columns;
  order: readonly Order[];
  onOrder: (order: readonly Order[]) => void;
  byPlace: boolean;
}

export function Rows({ names, rows, columns, order, onOrder, byPlace }: Properties) {
  const place = byPlace ? (columns.places[0] ?? "") : "";
  const inOrder = sorted(rows, order);
  const shown = place ? groupedBy(inOrder, place) : inOrder;
  const others = place ? names.filter((name) => name !== place) : names;
  const isBag = rows.some(({ count }) => count > 1);
  const lines = withHeads(shown, place);
  const isLong = lines.length > MOST_DRAWN;
  const [box, [from, to]] = useSeen(lines.length, isLong);
  const width = others.length + (isBag ? 1 : 0) + 1;
  return (
    <div ref={box} class={isLong ? "rows long" : "rows"} tabIndex={isLong ? 0 : undefined}>
      <table aria-rowcount={lines.length + 1}>
        <thead>
          <tr>
            {others.map((name) => (
              <Head key={name} name={name} isNumber={columns.numbers.includes(name)} order={order} onOrder={onOrder} />
            ))}
            {isBag && <th class="number">{texts.ask.timesHead}</th>}
            <th>
              <span class="hidden">{texts.ask.why}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {from > 0 && <Space lines={from} width={width} />}
          {lines.slice(from, to).map((line, index) =>
            typeof line === "string" ? (
              <tr key={`place ${line}`} class="place" aria-rowindex={from + index + 2}>
                <th colSpan={width} scope="colgroup">
                  <Told>{line}</Told>
                </th>
              </tr>
            ) : (
              <Line key={line.id} shown={line} names={others} columns={columns} isBag={isBag} index={from + index + 2} />
            ),
          )}
          {to < lines.length && <Space lines={lines.length - to} width={width} />}
        </tbody>
      </table>
    </div>
  );
}

/** Rows with the name of each place before its own. */
function withHeads(rows: readonly Shown[], place: string): readonly (Shown | string)[] {
  if (!place) return rows;
  const lines: (Shown | string)[] = [];
  let before: string | null = null;
  for (const each of rows) {
    const term = each.row[place];
    const name = term ? written(term) : texts.ask.elsewhere;
    if (name !== before) lines.push(name);
    before = name;
    lines.push(each);
  }
  return lines;
}

function Space({ lines, width }: { lines: number; width: number }) {
  return (
    <tr aria-hidden="true" class="space">
      <td colSpan={width} style={{ height: `${lines * LINE}px` }} />
    </tr>
  );
}

/** Which lines of a long table are seen. */
function useSeen(count: number, isLong: boolean): [preact.RefObject<HTMLDivElement>, [number, number]] {
  const box = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const [many, setMany] = useState(40);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !isLong) return undefined;
    const look = (): void => {
      setFirst(Math.max(Math.floor(element.scrollTop / LINE) - MARGIN, 0));
      setMany(Math.ceil(element.clientHeight / LINE) + 2 * MARGIN);
    };
    look();
    element.addEventListener("scroll", look, { passive: true });
    return () => element.removeEventListener("scroll", look);
  }, [isLong]);
  if (!isLong) return [box, [0, count]];
  const from = Math.min(first, Math.max(count - many, 0));
  return [box, [from, Math.min(from + many, count)]];
}

interface HeadProperties {
  name: string;
  isNumber: boolean;
  order: readonly Order[];
  onOrder: (order: readonly Order[]) => void;
}

function Head({ name, isNumber, order, onOrder }: HeadProperties) {
  const own = order[0]?.column === name ? order[0] : undefined;
  const next = (): void => onOrder(own?.descending ? [] : [{ column: name, descending: own !== undefined }]);
  return (
    <th class={isNumber ? "number" : undefined} aria-sort={!own ? "none" : own.descending ? "descending" : "ascending"} scope="col">
      <button type="button" class="sort" title={texts.ask.sortBy(name)} onClick={next}>
        {name}
        <span aria-hidden="true">{!own ? "" : own.descending ? " ↓" : " ↑"}</span>
      </button>
    </th>
  );
}

interface LineProperties {
  shown: Shown;
  names: readonly string[];
  columns: Columns;
  isBag: boolean;
  index: number;
}

const Line = memo(
  function Line({ shown, names, columns, isBag, index }: LineProperties) {
    const { row, mark, changed, count } = shown;
    const scope = answer.value?.scope ?? null;
    // Why a row is here is known of what this gateway itself has heard.
    const observation = scope === null && may("mappings") && mark !== "went" ? observationOf(row) : "";
    const isFrom = (name: string): boolean => name === GATEWAY && scope !== null && scope.mode !== "union";
    return (
      <tr class={mark === "changed" && changed.length > 0 ? "" : mark} data-mark={mark || undefined} aria-rowindex={index}>
        {names.map((name) => (
          <td key={name} class={`${columns.numbers.includes(name) ? "number" : ""} ${changed.includes(name) ? "changed" : ""}`}>
            {isFrom(name) ? <From term={row[name]} /> : <Cell term={row[name]} />}
          </td>
        ))}
        {isBag && <td class="number">{count > 1 ? texts.ask.times(count) : ""}</td>}
        <td class="more">
          {mark === "went" && <span class="hidden">{texts.ask.went}</span>}
          {mark === "came" && <span class="hidden">{texts.ask.came}</span>}
          {observation && (
            <a href={href("why", ["trail"], { iri: observation })} aria-label={texts.ask.whyRow} title={texts.ask.whyRow}>
              {texts.ask.why}
            </a>
          )}
        </td>
      </tr>
    );
  },
  (before, after) =>
    before.shown === after.shown &&
    before.isBag === after.isBag &&
    before.index === after.index &&
    before.names.join() === after.names.join() &&
    before.columns.numbers.join() === after.columns.numbers.join(),
);
