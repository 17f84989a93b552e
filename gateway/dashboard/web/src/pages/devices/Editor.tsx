/** One screen: what comes in, how it is read, what comes of it; what it would have changed; apply. */

import { useEffect, useState } from "preact/hooks";
import { tellDone } from "../../frame/undo";
import { Empty, Problem, Skeleton } from "../../parts";
import { address, go, href } from "../../state/address";
import { useAction, useLoad } from "../../state/load";
import { texts } from "../../texts";
import { differing, edits, isSame, missing, refusal, written } from "./members";
import { MemberForm } from "./MemberForm";
import { named, type Opened, opened } from "./opened";
import { OutcomeOf } from "./OutcomeOf";
import { Payload } from "./Payload";
import { Rehearsal } from "./Rehearsal";
import { apply, confirm, type Given, type Mapping, type Outcome, tried, undo } from "./told";

const TYPING_MS = 250;

export function Editor() {
  const { path, parameters } = address.value;
  const { mapping = path[1], proposal, topic, filter, guess } = parameters;
  const wanted = { mapping, proposal, topic, filter, guess };
  const loaded = useLoad(JSON.stringify(wanted), (signal) => opened(wanted, signal));
  return (
    <>
      <p class="back">
        <a href={href("devices")}>← {texts.devices.back}</a>
      </p>
      <Problem text={loaded.problem} again={loaded.again} />
      {loaded.value === undefined && !loaded.problem && <Skeleton lines={8} />}
      {loaded.value === null && <Empty>{texts.devices.edits.gone}</Empty>}
      {loaded.value && <Screen key={JSON.stringify(loaded.value.before)} opened={loaded.value} again={loaded.again} />}
    </>
  );
}

function Screen({ opened: start, again }: { opened: Opened; again(): void }) {
  const [form, setForm] = useState<Mapping>(start.form);
  const [message, setMessage] = useState<Given | null>(start.examples[0]?.message ?? null);
  const members = written(form);
  const lacking = missing(form);
  const { outcome, problem } = useOutcome(lacking.length > 0 ? null : message, members);
  const wrong = refusal(problem);
  const set = (name: string, text: string): void => setForm({ ...form, [name]: text });
  const isChanged = start.before === null || !isSame(start.before, written({ ...form, id: start.before.id }));
  const example = start.examples.find((each) => each.message === message);
  return (
    <>
      <h1>{title(start)}</h1>
      <div class="editor">
        <section aria-labelledby="payload-head">
          <h2 id="payload-head">{texts.devices.edits.payload}</h2>
          <Payload examples={start.examples} message={message} form={form} onMessage={setMessage} onSelect={(path) => set("selector", path)} />
        </section>
        <section aria-labelledby="members-head">
          <h2 id="members-head">{texts.devices.edits.members}</h2>
          <MemberForm form={form} wrong={wrong} base={start.base} onChange={set} />
        </section>
        <section aria-labelledby="outcome-head" aria-live="polite">
          <h2 id="outcome-head">{texts.devices.edits.outcome}</h2>
          <OutcomeOf
            outcome={outcome}
            lacking={lacking}
            problem={wrong.member ? "" : wrong.text}
            observation={isChanged ? null : (example?.observation ?? null)}
          />
        </section>
      </div>
      <Below start={start} mapping={named(members, start)} isReady={lacking.length === 0 && !problem} isChanged={isChanged} again={again} />
    </>
  );
}

function title({ before, proposal }: Opened): string {
  if (before) return texts.devices.edits.title;
  return proposal ? texts.devices.edits.proposalTitle : texts.devices.edits.newTitle;
}

/** What comes of a message, asked when nobody has typed for a moment. */
function useOutcome(message: Given | null, members: Mapping): { outcome: Outcome | null; problem: string } {
  const [told, setTold] = useState<{ outcome: Outcome | null; problem: string }>({ outcome: null, problem: "" });
  const key = JSON.stringify([message, members]);
  useEffect(() => {
    if (!message) {
      setTold({ outcome: null, problem: "" });
      return undefined;
    }
    const ends = new AbortController();
    const timer = setTimeout(() => {
      const { id: _, ...nameless } = members;
      tried(message, [nameless], ends.signal).then(
        (outcome) => setTold({ outcome, problem: "" }),
        (error: Error) => {
          if (!ends.signal.aborted) setTold({ outcome: null, problem: error.message });
        },
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      ends.abort();
    };
  }, [key]);
  return told;
}

interface BelowProps {
  start: Opened;
  mapping: Mapping;
  isReady: boolean;
  isChanged: boolean;
  again(): void;
}

/** The rehearsal, and what makes it so. */
function Below({ start, mapping, isReady, isChanged, again }: BelowProps) {
  const { isBusy, problem, once } = useAction();
  const put = (): Promise<void> =>
    once(async () => {
      const { change } = await settle(start, mapping);
      tellDone(texts.devices.edits.applied, change ? () => undo([change.id]).finally(again) : null);
      if (start.before) again();
      else go("devices", ["edit"], { mapping: mapping.id });
    });
  const remove = (): Promise<void> =>
    once(async () => {
      const { change } = await apply({ remove: [mapping.id ?? ""] });
      tellDone(texts.devices.edits.removed, change ? () => undo([change.id]) : null);
      go("devices");
    });
  return (
    <>
      <Rehearsal edits={edits(start.before, mapping)} isReady={isReady && isChanged} />
      <div class="apply">
        <Problem text={problem} />
        <button type="button" class="main" disabled={!isReady || !isChanged || isBusy} onClick={() => void put()}>
          {start.before ? texts.devices.edits.apply : texts.devices.edits.accept}
        </button>
        {start.before && (
          <button type="button" disabled={isBusy} onClick={() => void remove()}>
            {texts.devices.edits.remove}
          </button>
        )}
        {!isChanged && <span class="quiet">{texts.devices.edits.unchanged}</span>}
      </div>
    </>
  );
}

/** Put it in force; by its proposal where it has one, so that what commands it goes with it. */
async function settle({ before, proposal }: Opened, mapping: Mapping): ReturnType<typeof apply> {
  if (!proposal) return apply(edits(before, mapping));
  return confirm([proposal.id], differing(proposal.mapping, mapping) as Mapping);
}
