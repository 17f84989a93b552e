/** The editor itself; loaded when it is first shown. */

import { autocompletion, type Completion, type CompletionContext, type CompletionResult, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { sparql } from "@codemirror/legacy-modes/mode/sparql";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { texts } from "../../texts";
import { offered, terms, type Word } from "./completion";
import { declared, span, type Place, WELL_KNOWN } from "./text";

/** What is wrong, and where. */
export interface Mark {
  place: Place;
  text: string;
}

export interface Named {
  name: string;
  sparql: string;
}

export interface Handle {
  set(text: string): void;
  mark(mark: Mark | null): void;
  close(): void;
}

interface Listener {
  onText(text: string): void;
  onRun(): void;
  onWatch(): void;
  named(): readonly Named[];
}

const look = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--raised)", fontSize: "0.8125rem", borderRadius: "var(--radius)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", maxHeight: "min(44vh, 360px)" },
  ".cm-content": { padding: "12px 0", caretColor: "var(--text)", minHeight: "72px" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--quiet)", border: "none" },
  ".cm-placeholder": { color: "var(--quiet)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-soft)",
  },
  ".cm-matchingBracket": { backgroundColor: "var(--accent-soft)", outline: "none" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "var(--radius)",
    boxShadow: "var(--floating)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "280px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "4px 12px", lineHeight: "1.5" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionDetail": { fontStyle: "normal", fontFamily: "var(--font)", opacity: "0.75" },
  // Drawn by the text's own means: the package's are images in data: URLs, which the page forbids.
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--person)" },
  ".cm-lint-marker-error": { content: "normal", backgroundColor: "var(--person)", borderRadius: "50%", scale: "0.6" },
  ".cm-diagnostic": { padding: "8px 12px", borderLeft: "3px solid var(--person)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--accent)", fontWeight: "600" },
  { tag: [tags.variableName, tags.special(tags.variableName)], color: "var(--text)", fontWeight: "600" },
  { tag: [tags.string, tags.number, tags.bool], color: "var(--doubt)" },
  { tag: [tags.atom, tags.standard(tags.variableName), tags.namespace], color: "var(--accent)" },
  { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
]);

/** Show an editor in `host`. */
export function open(host: HTMLElement, text: string, listener: Listener): Handle {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const parent = document.createElement("div");
  root.replaceChildren(parent);
  // The page's keys (`g n`, `?`) are not for who types.
  host.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") event.stopPropagation();
  });
  let isSetting = false;
  const pressed = (does: () => void) => () => {
    does();
    return true;
  };
  const view = new EditorView({
    parent,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        keymap.of([
          { key: "Ctrl-Enter", mac: "Cmd-Enter", run: pressed(() => listener.onRun()), preventDefault: true },
          { key: "Shift-Ctrl-Enter", mac: "Shift-Cmd-Enter", run: pressed(() => listener.onWatch()), preventDefault: true },
        ]),
        lineNumbers(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        lintGutter(),
        placeholder(texts.ask.placeholder),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": texts.ask.editor, spellcheck: "false" }),
        StreamLanguage.define(sparql),
        syntaxHighlighting(colours),
        autocompletion({ override: [(context) => completions(context, listener)], icons: false, maxRenderedOptions: 60 }),
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        look,
        EditorView.updateListener.of((change) => {
          if (change.docChanged && !isSetting) listener.onText(change.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    set(wanted) {
      const now = view.state.doc.toString();
      if (now === wanted) return;
      isSetting = true;
      view.dispatch({ changes: differing(now, wanted) });
      isSetting = false;
    },
    mark(mark) {
      view.dispatch(setDiagnostics(view.state, mark ? [diagnostic(view.state.doc.toString(), mark)] : []));
    },
    close: () => view.destroy(),
  };
}

/** The change that leaves cursor and marks where they are, where only the beginning is new. */
function differing(now: string, wanted: string): { from: number; to: number; insert: string } {
  if (wanted.endsWith(now)) return { from: 0, to: 0, insert: wanted.slice(0, wanted.length - now.length) };
  return { from: 0, to: now.length, insert: wanted };
}

function diagnostic(text: string, { place, text: message }: Mark) {
  const [from, to] = span(text, place);
  return { from, to, severity: "error" as const, message };
}

async function completions(context: CompletionContext, listener: Listener): Promise<CompletionResult | null> {
  const text = context.state.doc.toString();
  const isQuick = offered(text, context.pos, [], context.explicit);
  if (!isQuick) return null;
  const isEmpty = text.trim().length <= context.pos - isQuick.from;
  const queries = listener.named().map(({ name }): Word => ({ text: name, name: "", kind: "query" }));
  const found = offered(text, context.pos, isEmpty ? queries : await terms(), context.explicit);
  if (!found || context.aborted || found.words.length === 0) return null;
  const options = found.words.map((word, index) => option(word, found.words.length - index, listener));
  return { from: found.from, options, filter: false };
}

function option(word: Word, boost: number, listener: Listener): Completion {
  const said = word.name && !word.text.toLowerCase().includes(word.name.toLowerCase()) ? `${word.name} · ` : "";
  return {
    label: word.text,
    detail: `${said}${texts.ask.words[word.kind]}`,
    type: word.kind,
    boost: Math.min(boost, 99),
    apply: (view, _, from, to) => put(view, word, from, to, listener),
  };
}

/** Put a word in, and its PREFIX line before the text where it has none. */
function put(view: EditorView, word: Word, from: number, to: number, listener: Listener): void {
  const text = view.state.doc.toString();
  if (word.kind === "query") {
    const whole = listener.named().find(({ name }) => name === word.text)?.sparql ?? "";
    view.dispatch({ changes: { from: 0, to: text.length, insert: whole }, selection: { anchor: whole.length } });
    return;
  }
  const prefix = /^([A-Za-z][\w-]*):/.exec(word.text)?.[1];
  const iri = prefix && !declared(text).has(prefix) ? WELL_KNOWN[prefix] : undefined;
  const line = iri ? `PREFIX ${prefix}: <${iri}>\n` : "";
  view.dispatch({
    changes: [...(line ? [{ from: 0, insert: line }] : []), { from, to, insert: word.text }],
    selection: { anchor: from + line.length + word.text.length },
    userEvent: "input.complete",
  });
}
