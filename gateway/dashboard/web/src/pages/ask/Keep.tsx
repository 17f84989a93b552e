/** Keep the question under a name. */

import { useEffect, useRef, useState } from "preact/hooks";
import { tellDone } from "../../frame/undo";
import { Problem } from "../../parts";
import { go } from "../../state/address";
import { texts } from "../../texts";
import { openedAs, text, windows } from "./desk";
import { forget, keep, named, nameOf } from "./saved";
import { completed, saidIn } from "./text";

export function Keep({ onDone }: { onDone: () => void }) {
  const there = named.value?.find(({ name, isSaved }) => isSaved && name === openedAs.value);
  const [label, setLabel] = useState(there ? there.label || there.name : saidIn(text.peek(), texts.ask.tellMe));
  const [problem, setProblem] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  const name = there && label === (there.label || there.name) ? there.name : nameOf(label);
  const before = named.value?.find((each) => each.isSaved && each.name === name);
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (!name) return;
    try {
      await keep(name, { sparql: completed(text.peek()), label: label === name ? "" : label, windows: windows.peek() ?? {} });
    } catch (error) {
      setProblem((error as Error).message);
      return;
    }
    openedAs.value = name;
    go("ask", [name]);
    onDone();
    tellDone(texts.ask.kept(label), () => (before ? keep(before.name, before) : forget(name)));
  };
  return (
    <form class="panel" onSubmit={(event) => void save(event)}>
      <label class="wide">
        {texts.ask.name}
        <input ref={field} value={label} maxLength={200} required onInput={(event) => setLabel(event.currentTarget.value)} />
      </label>
      <p class="quiet small wide" role="status">
        {name && texts.ask.nameHint(name)} {before && texts.ask.replaces}
      </p>
      <Problem text={problem} />
      <p class="actions">
        <button type="submit" class="main" disabled={!name}>
          {texts.ask.keep}
        </button>
        <button type="button" class="plain" onClick={onDone}>
          {texts.ask.cancel}
        </button>
      </p>
    </form>
  );
}
