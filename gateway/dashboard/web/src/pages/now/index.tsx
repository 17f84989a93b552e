/** Now: every place with its latest observations, live. */

import "./now.css";
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Empty, Problem, Search, Skeleton } from "../../parts";
import { may } from "../../protocol/session";
import { address, href, replaceParameters } from "../../state/address";
import { isThere, labelled, problem, streams, structure } from "../../state/streams";
import { texts } from "../../texts";
import { alarms } from "../../frame/news";
import { Detail } from "./Detail";
import { Group } from "./Group";
import { type By, grouped } from "./groups";
import { opened } from "./opened";
import { loadTrends } from "./past";
import { columnsFor, laidOut, LINE, linesSeen, type Placed, seen } from "./layout";

const GROUPINGS: By[] = ["place", "property", "device"];
const MARGIN = 600;
/** As far is scrolled before lines are drawn anew. */
const STEP = 8 * LINE;

export default function Now() {
  const { parameters, path } = address.value;
  const by = GROUPINGS.find((each) => each === parameters.by) ?? "place";
  const find = parameters.find ?? "";
  structure.value;
  labelled.value;
  // The list of alarms is another one each few seconds, mostly of the same.
  const alarmed = alarms.value.map(({ where }) => where).join("\n");
  const groups = useMemo(
    () => grouped(streams.values(), by, find),
    [structure.value, labelled.value, alarmed, by, find],
  );
  useEffect(() => {
    if (!isThere.value) return undefined;
    const ends = new AbortController();
    // The lines are whole without their trends: where there are none, none are drawn.
    loadTrends(ends.signal).catch((error: Error) => console.debug(error.message));
    return () => ends.abort();
  }, [isThere.value]);
  const back = href("now", [], parameters);
  return (
    <div class={opened.value ? "now open" : "now"}>
      <div class="list">
      <h1 class="hidden">{texts.pages.now}</h1>
      <div class="head">
        <Search label={texts.now.search} value={find} onText={(text) => replaceParameters({ find: text || undefined })} />
        <div class="switch" role="group" aria-label={texts.now.groupBy}>
          {GROUPINGS.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === by}
              onClick={() => replaceParameters({ by: each === "place" ? undefined : each })}
            >
              {texts.now.groups[each]}
            </button>
          ))}
        </div>
      </div>
      <Problem text={problem.value} />
      {!isThere.value && !problem.value && <Skeleton lines={8} />}
      {isThere.value && groups.length === 0 && <Nothing find={find} />}
      <Groups groups={groups} by={by} />
      </div>
      {opened.value && <Detail path={path} back={back} />}
    </div>
  );
}

function Nothing({ find }: { find: string }) {
  if (find) return <Empty>{texts.now.emptyFind(find)}</Empty>;
  return (
    <Empty>
      <p>{texts.now.empty}</p>
      {may("mappings") && <a href={href("devices", ["connect"])}>{texts.now.emptyNext}</a>}
    </Empty>
  );
}

/** Groups at their places; those far from what is seen are not drawn. */
function Groups({ groups, by }: { groups: ReturnType<typeof grouped>; by: By }) {
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  const view = useSignal({ top: 0, bottom: 1200 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const look = (): void => {
      const { top } = element.getBoundingClientRect();
      const from = Math.floor((-top - MARGIN) / STEP) * STEP;
      const to = Math.ceil((window.innerHeight - top + MARGIN) / STEP) * STEP;
      if (view.peek().top !== from || view.peek().bottom !== to) view.value = { top: from, bottom: to };
    };
    const observer = new ResizeObserver(() => {
      width.value = element.clientWidth;
      look();
    });
    observer.observe(element);
    window.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      window.removeEventListener("scroll", look);
    };
  }, []);
  const columns = columnsFor(width.value);
  const layout = useMemo(() => laidOut(groups, columns), [groups, columns]);
  const shown: Placed[] = width.value === 0 ? [] : seen(layout.placed, view.value.top, view.value.bottom);
  useEffect(() => {
    // A page that got shorter shows its end, not nothing.
    window.dispatchEvent(new Event("scroll"));
  }, [layout.height]);
  return (
    <div ref={box} class="groups" role="list" style={{ height: `${layout.height}px` }}>
      {shown.map((placed) => {
        const [from, to] = linesSeen(placed, view.value.top, view.value.bottom);
        return <Group key={placed.group.key} {...{ placed, columns, from, to, by }} />;
      })}
    </div>
  );
}
