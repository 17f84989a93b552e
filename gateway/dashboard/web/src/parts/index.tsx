/** Small parts that every page is made of. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { age, whole } from "../state/format";
import { now } from "../state/clock";
import { texts } from "../texts";

/** How long ago something was, counting by itself; the whole time for who points at it. */
export function Age({ at }: { at: number }) {
  if (!Number.isFinite(at)) return null;
  return (
    <time dateTime={new Date(at).toISOString()} title={whole(at)}>
      {age(now.value - at)}
    </time>
  );
}

type Tone = "" | "doubt" | "person" | "good";

export function Badge({ tone = "", title, children }: { tone?: Tone; title?: string; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}

/** What went wrong, and what to do: the gateway's own words. */
export function Problem({ text, again }: { text: string; again?: () => void }) {
  if (!text) return null;
  return (
    <div class="problem" role="alert">
      <span class="told">{text}</span>
      {again && (
        <button type="button" onClick={again}>
          {texts.frame.again}
        </button>
      )}
    </div>
  );
}

/** What to do next where there is nothing to show. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

/** Where something will stand; seen only if it takes longer than a blink. */
export function Skeleton({ lines = 5 }: { lines?: number }) {
  return (
    <div class="skeleton" aria-hidden="true">
      {Array.from({ length: lines }, (_, index) => (
        <i key={index} />
      ))}
    </div>
  );
}

/** A text of a device or of data: whatever it is, it stays within itself. */
export function Told({ children, title }: { children: string; title?: string }) {
  return (
    <bdi class="told" title={title}>
      {children}
    </bdi>
  );
}

const COPIED_MS = 2000;

/** Copies a text; says that it did. */
export function Copy({ text, label = texts.signIn.copy }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  // Where the page is not served securely there is no clipboard: people select the text.
  if (!navigator.clipboard) return null;
  return (
    <button type="button" class="plain" onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}>
      {isCopied ? texts.signIn.copied : label}
    </button>
  );
}

/** Where one types what to look for; `/` leads there. */
export function Search({ label, value, onText }: { label: string; value: string; onText(text: string): void }) {
  return (
    <div class="grow">
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    </div>
  );
}
