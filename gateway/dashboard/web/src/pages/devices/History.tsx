/** What was changed in the mappings, by whom, and the way back. */

import { useState } from "preact/hooks";
import { tellDone } from "../../frame/undo";
import { Age, Empty, Problem, Skeleton, Told } from "../../parts";
import { ApiError } from "../../protocol/http";
import { href } from "../../state/address";
import { useLoad } from "../../state/load";
import { calledProperty } from "../../state/streams";
import { texts } from "../../texts";
import { history, type Mapping, type MappingChange, undo } from "./told";
import { differing } from "./members";

const MOST = 8;

export function History() {
  const changes = useLoad("history", history);
  return (
    <>
      <p class="back">
        <a href={href("devices")}>← {texts.devices.back}</a>
      </p>
      <h1>{texts.devices.historyTitle}</h1>
      <p class="quiet hint">{texts.devices.historyHint}</p>
      <Problem text={changes.problem} again={changes.again} />
      {!changes.value && !changes.problem && <Skeleton />}
      {changes.value?.changes.length === 0 && <Empty>{texts.devices.historyEmpty}</Empty>}
      <ol class="changes">
        {changes.value?.changes.map((change) => (
          <One key={change.id} change={change} again={changes.again} />
        ))}
      </ol>
    </>
  );
}

function One({ change, again }: { change: MappingChange; again(): void }) {
  const [problem, setProblem] = useState("");
  const [isConflict, setConflict] = useState(false);
  const back = async (force: boolean): Promise<void> => {
    try {
      await undo([change.id], force);
      tellDone(texts.devices.doneUndone);
      again();
    } catch (error) {
      setProblem((error as Error).message);
      setConflict(error instanceof ApiError && error.status === 409);
    }
  };
  const lines = told(change);
  return (
    <li class="change">
      <div class="what">
        <strong>{texts.devices.kinds[change.kind] ?? change.kind}</strong>{" "}
        <span class="quiet">
          {texts.devices.mappings(lines.length)} · <Age at={Date.parse(change.at)} />
          {change.by && " · "}
          {change.by && <Told>{texts.devices.by(change.by)}</Told>}
        </span>
        <ul class="small">
          {lines.slice(0, MOST).map((line) => (
            <li key={line}>
              <Told>{line}</Told>
            </li>
          ))}
          {lines.length > MOST && <li class="quiet">… {lines.length - MOST}</li>}
        </ul>
        <Problem text={problem} />
      </div>
      <button type="button" onClick={() => void back(isConflict)}>
        {isConflict ? texts.devices.force : texts.devices.takeBack}
      </button>
    </li>
  );
}

/** One line a mapping: + what came, − what went, what was changed in it. */
export function told(change: Pick<MappingChange, "before" | "after">): string[] {
  const before = new Map(change.before.map((each) => [each.id, each]));
  const after = new Map(change.after.map((each) => [each.id, each]));
  const line = (sign: string, mapping: Mapping): string =>
    `${sign} ${[mapping.topic, mapping.selector].filter(Boolean).join(" ")} (${calledProperty(mapping.property ?? "")})`;
  const lines: string[] = [];
  for (const [id, mapping] of after) {
    const old = before.get(id);
    if (!mapping.property) continue;
    if (!old) lines.push(line("+", mapping));
    else lines.push(`${line("±", mapping)}: ${Object.keys(differing(old, mapping)).join(", ")}`);
  }
  for (const [id, mapping] of before) if (!after.has(id) && mapping.property) lines.push(line("−", mapping));
  return lines;
}
