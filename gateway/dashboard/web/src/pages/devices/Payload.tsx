/** The last message as a tree; a click on a member chooses it. */

import { useState } from "preact/hooks";
import { Age, Told } from "../../parts";
import { bytes } from "../../state/format";
import { texts } from "../../texts";
import type { Example } from "./opened";
import { isChosen, matched, type Node, tree } from "./payload";
import type { Given, Mapping } from "./told";

interface Props {
  examples: Example[];
  message: Given | null;
  form: Mapping;
  onMessage(message: Given): void;
  onSelect(selector: string): void;
}

export function Payload({ examples, message, form, onMessage, onSelect }: Props) {
  const at = examples.findIndex((each) => each.message === message);
  const example = examples[at];
  const [isTyping, setTyping] = useState(examples.length === 0);
  const step = (by: number): void => {
    const next = examples[Math.max(at, 0) + by];
    if (next) onMessage(next.message);
  };
  return (
    <>
      {message && (
        <p class="quiet small">
          <Told>{message.topic}</Told> {example && <Age at={example.at} />}
        </p>
      )}
      {message && <Shown message={message} form={form} onSelect={onSelect} />}
      {example?.whole && (
        <p class="quiet small">{texts.devices.edits.cut(bytes(example.message.payload?.length ?? 0), bytes(example.whole))}</p>
      )}
      {examples.length > 1 && (
        <p class="steps small">
          <button type="button" class="plain" disabled={at >= examples.length - 1} onClick={() => step(1)}>
            {texts.devices.edits.older}
          </button>
          {at >= 0 && texts.devices.edits.message(at + 1, examples.length)}
          <button type="button" class="plain" disabled={at <= 0} onClick={() => step(-1)}>
            {texts.devices.edits.newer}
          </button>
        </p>
      )}
      {examples.length === 0 && <p class="quiet">{texts.devices.edits.noMessage}</p>}
      <details open={isTyping} onToggle={(event) => setTyping(event.currentTarget.open)}>
        <summary class="small">{texts.devices.edits.another}</summary>
        <Typed message={message} topic={form.topic ?? ""} onMessage={onMessage} />
      </details>
    </>
  );
}

function Typed({ message, topic, onMessage }: { message: Given | null; topic: string; onMessage(message: Given): void }) {
  const where = message?.topic ?? topic.replace(/[+#]/g, "x");
  return (
    <div class="fields">
      <label>
        {texts.devices.edits.topicOf}
        <input
          value={where}
          spellcheck={false}
          onInput={(event) => onMessage({ topic: event.currentTarget.value, payload: message?.payload ?? "" })}
        />
      </label>
      <label>
        {texts.devices.edits.payloadOf}
        <textarea
          rows={4}
          spellcheck={false}
          value={message?.payload ?? ""}
          onInput={(event) => onMessage({ topic: where, payload: event.currentTarget.value })}
        />
      </label>
    </div>
  );
}

function Shown({ message, form, onSelect }: { message: Given; form: Mapping; onSelect(selector: string): void }) {
  const { format = "json", selector = "" } = form;
  const text = message.payload;
  if (text === undefined) return <pre class="payload">{message.payloadBase64}</pre>;
  const root = tree(text, format);
  if (root.children.length > 0) {
    return (
      <ul class="tree">
        {root.children.map((each) => (
          <Branch key={each.name} node={each} selector={selector} onSelect={onSelect} />
        ))}
      </ul>
    );
  }
  const marked = format === "text" && selector ? matched(text, selector) : format === "scalar" ? ["", text, ""] : null;
  return (
    <pre class="payload">
      {marked ? (
        <bdi class="told">
          {marked[0]}
          <mark>{marked[1]}</mark>
          {marked[2]}
        </bdi>
      ) : (
        <Told>{text}</Told>
      )}
    </pre>
  );
}

const MOST_TEXT = 200;

function Branch({ node, selector, onSelect }: { node: Node; selector: string; onSelect(selector: string): void }) {
  const isMarked = isChosen(node, selector);
  const value = node.text !== null && node.text.length > MOST_TEXT ? `${node.text.slice(0, MOST_TEXT)} …` : node.text;
  const line = (
    <>
      <Told>{node.name}</Told> {value !== null && <Told>{value}</Told>}
    </>
  );
  return (
    <li>
      {node.selector !== null && node.text !== null ? (
        <button
          type="button"
          class={isMarked ? "leaf chosen" : "leaf"}
          aria-pressed={isMarked}
          aria-label={`${texts.devices.edits.choose(node.selector)}: ${value}`}
          onClick={() => onSelect(node.selector ?? "")}
        >
          {line}
        </button>
      ) : (
        <span class="leaf">{line}</span>
      )}
      {node.children.length > 0 && (
        <ul>
          {node.children.map((each) => (
            <Branch key={each.name} node={each} selector={selector} onSelect={onSelect} />
          ))}
        </ul>
      )}
    </li>
  );
}
