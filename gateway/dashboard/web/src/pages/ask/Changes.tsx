/** The stream of notifications: the last of them, each with its rows. */

import { Empty, Told } from "../../parts";
import type { Row } from "../../protocol/terms";
import { timeOfDay, whole } from "../../state/format";
import { texts } from "../../texts";
import { written } from "./Cell";
import type { Note } from "./table";

const MOST_ROWS = 20;

export function Changes({ notes, names }: { notes: readonly Note[]; names: readonly string[] }) {
  if (notes.length === 0) return <Empty>{texts.ask.noChanges}</Empty>;
  return (
    <ol class="changes">
      {notes.map((note) => (
        <li key={note.sequence}>
          <details>
            <summary>
              <span class="number quiet">{note.sequence}</span>
              <time dateTime={new Date(note.time).toISOString()} title={whole(note.time)}>
                {timeOfDay(note.time)}
              </time>
              <span class="came-count">{note.added > 0 && `+${note.added}`}</span>
              <span class="went-count">{note.removed > 0 && `−${note.removed}`}</span>
              {note.sequence === 0 && <span class="quiet">{texts.ask.firstAnswer}</span>}
            </summary>
            <ul>
              {note.rows.slice(0, MOST_ROWS).map(({ sign, row }, index) => (
                <li key={index} class={sign === "+" ? "came-count" : "went-count"}>
                  {sign} <Told>{told(row, names)}</Told>
                </li>
              ))}
              {note.added + note.removed > MOST_ROWS && (
                <li class="quiet">{texts.ask.moreRows(note.added + note.removed - MOST_ROWS)}</li>
              )}
            </ul>
          </details>
        </li>
      ))}
    </ol>
  );
}

function told(row: Row, names: readonly string[]): string {
  const columns = names.length > 0 ? names : Object.keys(row);
  return columns.map((name) => row[name]).filter((term) => term !== undefined).map(written).join(" · ");
}
