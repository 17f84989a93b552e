/** Windows beside the text: what is declared, and what each has while the question is watched. */

import { useState } from "preact/hooks";
import { Badge, Problem, Told } from "../../parts";
import { api } from "../../protocol/http";
import { may } from "../../protocol/session";
import type { WindowNow } from "../../protocol/subscription";
import { href } from "../../state/address";
import { short, since, whole } from "../../state/format";
import { useLoad } from "../../state/load";
import { texts } from "../../texts";
import type { Answer } from "./answer";
import { declare, declared, windows } from "./desk";
import { FIRST, found, read, readingsOf, type WindowTold } from "./windows";

const EVERY_MS = 5_000;

/** Declarations, to be read and changed: closed, for the sentence writes them. */
export function Beside() {
  const json = declared.value;
  const all = read(json);
  const [isOpen, setOpen] = useState(false);
  if (json === "") {
    return (
      <p>
        <button
          type="button"
          class="plain small"
          onClick={() => {
            declare(FIRST);
            setOpen(true);
          }}
        >
          {texts.ask.windows.add}
        </button>
      </p>
    );
  }
  const unused = Object.keys(all ?? {}).filter((iri) => !(iri in (windows.value ?? {})));
  return (
    <details class="windows" open={isOpen || all === null} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {texts.ask.windows.title} <span class="quiet small">{Object.keys(all ?? {}).map((iri) => `<${iri}>`).join("  ")}</span>
      </summary>
      <textarea
        aria-label={texts.ask.windows.field}
        aria-invalid={all === null}
        spellcheck={false}
        rows={Math.min(json.split("\n").length + 1, 16)}
        value={json}
        onInput={(event) => {
          declared.value = event.currentTarget.value;
        }}
      />
      <p class="quiet small">{texts.ask.windows.hint}</p>
      <Problem text={all === null ? texts.ask.windows.wrong : ""} />
      {unused.length > 0 && <p class="quiet small">{texts.ask.windows.unused(unused.join(", "))}</p>}
    </details>
  );
}

/** What the windows of an answer have: as it was told first, and as it is now where one may know. */
export function Seen({ now }: { now: Answer }) {
  const iris = Object.keys(now.windows);
  const isFollowed = now.isLive && iris.length > 0 && may("operations");
  const { value } = useLoad(
    isFollowed ? `windows of ${now.text}` : null,
    (ends) => api.get<{ windows: WindowTold[] }>("/windows", {}, ends),
    EVERY_MS,
  );
  if (iris.length === 0) return null;
  return (
    <ul class="seen" aria-label={texts.ask.windows.title}>
      {iris.map((iri) => {
        const first = now.windows[iri];
        const latest = isFollowed && value ? found(value.windows, iri, now.over[iri] ?? {}) : undefined;
        return first && <One key={iri} iri={iri} now={now} first={first} latest={latest} />;
      })}
    </ul>
  );
}

interface OneProperties {
  iri: string;
  now: Answer;
  first: WindowNow;
  latest: WindowTold | undefined;
}

function One({ iri, now, first, latest }: OneProperties) {
  const { elements, complete, from } = latest ?? first;
  const said = texts.ask.windows;
  const at = from === null ? Number.NaN : Date.parse(from);
  const count = elements === 0 ? said.none : elements === 1 ? said.one : said.many(short(elements));
  const why = complete ? said.wholeMeans : Number.isFinite(at) ? said.partMeans(whole(at)) : said.partNothing;
  const declaration = now.over[iri];
  return (
    <li>
      <Told>{iri}</Told>
      <span>
        <strong>{count}</strong> {!latest && <span class="quiet small">{said.atFirst}</span>}
        {latest && latest.late > 0 && <span class="quiet small">{said.late(short(latest.late))}</span>}
      </span>
      <span class="quiet">{Number.isFinite(at) && <time title={whole(at)}>{said.from(since(at))}</time>}</span>
      <Badge tone={complete ? "good" : "doubt"} title={why}>
        {complete ? said.whole : said.part}
      </Badge>
      {declaration && (
        <a href={href("ask", [], { query: readingsOf(iri), windows: JSON.stringify({ [iri]: declaration }) })}>{said.show}</a>
      )}
      {!complete && <span class="quiet small why">{why}</span>}
    </li>
  );
}
