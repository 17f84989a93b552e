/** Ask: a question in words or in SPARQL, once or for as long as somebody looks. */

import "./ask.css";
import { useEffect, useState } from "preact/hooks";
import { Problem } from "../../parts";
import { may, me } from "../../protocol/session";
import type { Scope, Windows } from "../../protocol/subscription";
import { address, href } from "../../state/address";
import { texts } from "../../texts";
import { answer, clear, stopWatching } from "./answer";
import { begin, declared, isUpdate, mark, openedAs, refused, runNow, scope, show, text, typed, updated, updateNow, watchNow, windows } from "./desk";
import { Editor } from "./Editor";
import { examples, facts } from "./facts";
import { Keep } from "./Keep";
import { Result } from "./Result";
import { MakeRule } from "./MakeRule";
import { Saved } from "./Saved";
import { Of } from "./Scope";
import { read } from "./scope";
import { named } from "./saved";
import { Sentence, write } from "./Sentence";
import { form, place, wrong } from "./text";
import { Beside } from "./Windows";

export default function Ask() {
  useAddress();
  useEffect(() => clear, []);
  const [panel, setPanel] = useState<"" | "keep" | "rule">("");
  const known = facts();
  const isEmpty = text.value.trim() === "";
  useEffect(() => {
    if (isEmpty) setPanel("");
  }, [isEmpty]);
  return (
    <div class="ask">
      <aside>
        <details open={window.innerWidth > 720}>
          <summary>
            <h2>{texts.ask.saved}</h2>
          </summary>
          <a class="begin" href={href("ask")} onClick={begin}>
            {texts.ask.begin}
          </a>
          <Saved />
        </details>
      </aside>
      <div class="desk">
        <h1 class="hidden">{texts.pages.ask}</h1>
        <Sentence facts={known} />
        {isEmpty && <Examples />}
        <Editor text={text.value} mark={mark.value} named={named.value ?? []} onText={typed} onRun={runNow} onWatch={watchNow} />
        <Of />
        <Beside />
        {isUpdate.value ? <Change /> : <Actions isEmpty={isEmpty} onPanel={(wanted) => setPanel(panel === wanted ? "" : wanted)} />}
        {panel === "keep" && <Keep onDone={() => setPanel("")} />}
        {panel === "rule" && <MakeRule onDone={() => setPanel("")} />}
        <Result />
      </div>
    </div>
  );
}

/** What the address names is shown: a saved question, or a text of another page. */
function useAddress(): void {
  const { path, parameters } = address.value;
  const name = path[0] ?? "";
  const all = named.value;
  useEffect(() => {
    if (parameters.query !== undefined) {
      show(parameters.query);
      declared.value = parameters.windows ?? "";
      scope.value = read(parameters.gateways, parameters.mode);
      if (scope.value?.mode === "event") watchNow();
      else runNow();
    }
  }, [parameters.query, parameters.windows, parameters.gateways, parameters.mode]);
  const isThere = all !== null;
  useEffect(() => {
    const found = all?.find((each) => each.name === name);
    if (!found || openedAs.peek() === name) return;
    show(found.sparql, name, found.windows);
    if (form(found.sparql) === "DESCRIBE") runNow();
    else watchNow();
    openedAs.value = name;
  }, [name, isThere]);
  useEffect(() => {
    if (name === "" && openedAs.peek() !== "") openedAs.value = "";
  }, [name]);
}

/** Questions that this store can answer, for who does not know where to begin. */
function Examples() {
  const known = facts();
  const all = examples(known);
  if (all.length === 0) return null;
  return (
    <section class="examples" aria-label={texts.ask.tryTitle}>
      <h2>{texts.ask.tryTitle}</h2>
      <ul>
        {all.map(({ key, title, question }) => (
          <li key={key}>
            <button
              type="button"
              class="plain"
              onClick={() => {
                write(question, known);
                watchNow();
              }}
            >
              {title}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Actions({ isEmpty, onPanel }: { isEmpty: boolean; onPanel: (panel: "keep" | "rule") => void }) {
  const kind = form(text.value);
  const name = openedAs.value;
  const asked = name ? { name } : { query: text.value };
  const over = windows.value;
  const isOver = over === null || Object.keys(over).length > 0;
  const of = scope.value;
  const isSame = sameQuestion(text.value, over, of);
  const isWatched = isSame && (answer.value?.isLive ?? false);
  return (
    <div class="do">
      <button type="button" class="main" disabled={isEmpty || !over || of?.mode === "event"} title={of?.mode === "event" ? texts.ask.scope.onlyWatched : texts.ask.runKey} onClick={runNow}>
        {texts.ask.run}
      </button>
      {isWatched ? (
        <button type="button" onClick={stopWatching}>
          {texts.ask.stop}
        </button>
      ) : (
        <button
          type="button"
          disabled={isEmpty || !over || kind === "DESCRIBE"}
          title={kind === "DESCRIBE" ? texts.ask.noDescribe : texts.ask.watchKey}
          onClick={watchNow}
        >
          {texts.ask.watch}
        </button>
      )}
      {!isEmpty && may("mappings") && (
        <>
          <button type="button" class="plain" disabled={of !== null} title={of ? texts.ask.scope.onlyHere : undefined} onClick={() => onPanel("keep")}>
            {texts.ask.save}
          </button>
          <button type="button" class="plain" disabled={kind !== "SELECT" || isOver || of !== null} title={of ? texts.ask.scope.onlyHere : isOver ? texts.ask.ruleOver : kind === "SELECT" ? undefined : texts.ask.onlySelect} onClick={() => onPanel("rule")}>
            {texts.ask.rule}
          </button>
        </>
      )}
      {answer.value?.isThere && kind === "SELECT" && !isOver && !of && (
        <a class="quietly" href={href("why", ["quiet"], asked)}>
          {texts.ask.quiet}
        </a>
      )}
    </div>
  );
}

/** Whether the answer is that of what stands on the desk. */
function sameQuestion(now: string, over: Windows | null, of: Scope | null): boolean {
  const last = answer.value;
  const written = (...parts: unknown[]): string => JSON.stringify(parts);
  return last !== null && last.text === now && written(last.over, last.scope) === written(over, of);
}

/** Somebody has pasted an UPDATE: it is said, and asked about once more. */
function Change() {
  const [isSure, setSure] = useState(false);
  const isAllowed = me.value?.everything ?? false;
  const problem = refused.value;
  const at = problem ? place(problem) : null;
  return (
    <div class="change">
      <p role="status">
        {updated.value ? texts.ask.changed(updated.value.added, updated.value.removed) : texts.ask.isUpdate}{" "}
        {!isAllowed && texts.ask.notUpdated}
      </p>
      {isAllowed && !updated.value && (
        <button
          type="button"
          class={isSure ? "main" : ""}
          onClick={() => {
            setSure(!isSure);
            if (isSure) void updateNow();
          }}
        >
          {isSure ? texts.ask.sure : texts.ask.execute}
        </button>
      )}
      <Problem text={problem && (at ? texts.ask.atLine(at.line, at.column) : "") + wrong(problem)} />
    </div>
  );
}
