/** The list on the left: questions with a name, and how many rows each has now. */

import { useEffect, useRef, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { tellDone } from "../../frame/undo";
import { Problem, Skeleton, Told } from "../../parts";
import { may } from "../../protocol/session";
import { go, href } from "../../state/address";
import { short } from "../../state/format";
import { texts } from "../../texts";
import { follow } from "./counts";
import { openedAs } from "./desk";
import { forget, keep, load, type Named, named, problem, title } from "./saved";
import { form } from "./text";

export function Saved() {
  const [find, setFind] = useState("");
  useEffect(() => void load(), []);
  const all = named.value;
  const wanted = find.trim().toLowerCase();
  const found = (all ?? []).filter((each) => `${each.name} ${each.label}`.toLowerCase().includes(wanted));
  const yours = found.filter(({ isSaved }) => isSaved);
  const others = found.filter(({ isSaved }) => !isSaved);
  return (
    <>
      <Problem text={problem.value} again={() => void load()} />
      {all === null && !problem.value && <Skeleton lines={4} />}
      {all !== null && all.length > 8 && (
        <input type="search" aria-label={texts.ask.find} placeholder={texts.ask.find} value={find} onInput={(event) => setFind(event.currentTarget.value)} />
      )}
      {all !== null && <Group name={texts.ask.yours} all={yours} />}
      {all !== null && !wanted && yours.length === 0 && may("mappings") && <p class="quiet small">{texts.ask.noneSaved}</p>}
      {others.length > 0 && <Group name={texts.ask.profiles} all={others} />}
      {wanted && found.length === 0 && <p class="quiet small">{texts.ask.noneFound(find)}</p>}
    </>
  );
}

function Group({ name, all }: { name: string; all: readonly Named[] }) {
  if (all.length === 0) return null;
  return (
    <section class="named" aria-label={name}>
      <h3 class="quiet small">{name}</h3>
      <ul>
        {all.map((each) => (
          <Item key={each.name} one={each} />
        ))}
      </ul>
    </section>
  );
}

function Item({ one }: { one: Named }) {
  const remove = async (): Promise<void> => {
    try {
      await forget(one.name);
    } catch (error) {
      tellDone((error as Error).message);
      return;
    }
    if (openedAs.peek() === one.name) go("ask");
    tellDone(texts.ask.forgotten(title(one)), () => keep(one.name, one));
  };
  return (
    <li>
      <a href={href("ask", [one.name])} aria-current={openedAs.value === one.name ? "page" : undefined} title={one.name}>
        <Told>{title(one)}</Told>
        <Count sparql={one.sparql} windows={one.windows} />
      </a>
      {one.isSaved && may("mappings") && (
        <button type="button" class="plain" aria-label={texts.ask.forget(title(one))} title={texts.ask.forget(title(one))} onClick={() => void remove()}>
          ×
        </button>
      )}
    </li>
  );
}

/** The rows of an answer, followed while it is seen. */
function Count({ sparql, windows }: Pick<Named, "sparql" | "windows">) {
  const box = useRef<HTMLSpanElement>(null);
  const [count] = useState(() => signal<number | null>(null));
  useEffect(() => {
    const element = box.current;
    if (!element || !["SELECT", "ASK"].includes(form(sparql))) return undefined;
    let end: (() => void) | null = null;
    const leave = (): void => {
      end?.();
      end = null;
    };
    const observer = new IntersectionObserver(([entry]) => {
      if (!entry?.isIntersecting) leave();
      else end ??= follow(sparql, windows, count);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      leave();
    };
  }, [sparql]);
  const now = count.value;
  return (
    <span ref={box} class="count quiet small" title={now === null ? undefined : texts.ask.rowsNow(now)}>
      {now === null ? "" : short(now)}
    </span>
  );
}
