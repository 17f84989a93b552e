/** Where SPARQL is typed: CodeMirror in a shadow root, so that its styles are adopted, not inlined. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Problem, Skeleton } from "../../parts";
import { texts } from "../../texts";
import type { Handle, Mark, Named } from "./codemirror";
import { text as onDesk } from "./desk";

interface Properties {
  text: string;
  mark: Mark | null;
  /** Queries that have a name, to be put in. */
  named: readonly Named[];
  onText: (text: string) => void;
  onRun: () => void;
  onWatch: () => void;
}

export function Editor(properties: Properties) {
  const host = useRef<HTMLDivElement>(null);
  const handle = useRef<Handle | null>(null);
  const last = useRef(properties);
  last.current = properties;
  const [state, setState] = useState<"loading" | "there" | "failed">("loading");
  useEffect(() => {
    let isOver = false;
    import("./codemirror").then(
      ({ open }) => {
        if (isOver || !host.current) return;
        handle.current = open(host.current, onDesk.peek(), {
          onText: (text) => last.current.onText(text),
          onRun: () => last.current.onRun(),
          onWatch: () => last.current.onWatch(),
          named: () => last.current.named,
        });
        handle.current.mark(last.current.mark);
        setState("there");
      },
      () => setState("failed"),
    );
    return () => {
      isOver = true;
      handle.current?.close();
      handle.current = null;
    };
  }, []);
  // What stands on the desk now, which may be newer than what is drawn: somebody types on meanwhile.
  useEffect(() => handle.current?.set(onDesk.peek()), [properties.text]);
  useEffect(() => handle.current?.mark(properties.mark), [properties.mark]);
  if (state === "failed") return <Plain {...properties} />;
  return (
    <>
      {state === "loading" && <Skeleton lines={3} />}
      <div ref={host} class="editor" data-editor={state} />
    </>
  );
}

/** Where the editor could not be loaded: its text all the same. */
function Plain({ text, onText, onRun }: Properties) {
  return (
    <>
      <Problem text={texts.ask.plainEditor} />
      <textarea
        class="plain-editor"
        aria-label={texts.ask.editor}
        rows={10}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onRun();
        }}
      />
    </>
  );
}
