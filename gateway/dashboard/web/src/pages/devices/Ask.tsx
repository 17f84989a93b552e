/** A question about a part of a device, answered where it stands. */

import { useId } from "preact/hooks";
import { Told } from "../../parts";
import { href } from "../../state/address";
import { texts } from "../../texts";
import { answerMembers, type Question, unitChoices } from "./things";
import type { Mapping, Proposal } from "./told";
import { UNITS } from "./vocabulary";

interface Props {
  part: Proposal;
  question: Question;
  last: string;
  /** What was answered; undefined for nothing yet, null to leave it out. */
  answer: string | null | undefined;
  onAnswer(answer: string | null): void;
}

/** Members of the mapping that an answer sets; null where the part is left out. */
export function membersOf(part: Proposal, question: Question, answer: string | null | undefined): Mapping | null {
  return answer === null || answer === undefined ? null : answerMembers(question, answer, part.mapping);
}

export function Ask({ part, question, last, answer, onAnswer }: Props) {
  return (
    <div class="question" role="group" aria-label={question.text}>
      <p>
        <Told>{question.text}</Told> {last && <span class="quiet">{texts.devices.lastValue(last)}</span>}
      </p>
      <div class="answers">
        {question.asks === "unit" && (
          <UnitAnswer choices={unitChoices(part.mapping.property ?? "")} answer={answer} onAnswer={onAnswer} />
        )}
        {question.asks === "yes" && <Choice value="yes" text={texts.devices.yes} answer={answer} onAnswer={onAnswer} />}
        {question.asks === "words" && (
          <>
            <Choice value="yes" text={texts.devices.yes} answer={answer} onAnswer={onAnswer} />
            <Choice value="no" text={texts.devices.no} answer={answer} onAnswer={onAnswer} />
          </>
        )}
        {typeof answer === "string" && <Choice value={null} text={texts.devices.leave} answer={answer} onAnswer={onAnswer} />}
        {question.asks !== "words" && (
          <a class="small" href={href("devices", ["edit"], { proposal: part.id })}>
            {texts.devices.inEditor}
          </a>
        )}
      </div>
    </div>
  );
}

interface Choosing {
  answer: string | null | undefined;
  onAnswer(answer: string | null): void;
}

function Choice({ value, text, answer, onAnswer }: Choosing & { value: string | null; text: string }) {
  return (
    <button type="button" class="choice" aria-pressed={answer === value} onClick={() => onAnswer(value)}>
      {text}
    </button>
  );
}

function UnitAnswer({ choices, answer, onAnswer }: Choosing & { choices: string[] }) {
  const id = useId();
  return (
    <>
      {choices.map((each) => (
        <Choice key={each} value={each} text={each} answer={answer} onAnswer={onAnswer} />
      ))}
      <input
        class="unit-answer"
        list={id}
        aria-label={texts.devices.unitAnswer}
        placeholder={choices.length > 0 ? texts.devices.otherUnit : texts.devices.unitAnswer}
        value={answer && !choices.includes(answer) ? answer : ""}
        onInput={(event) => onAnswer(event.currentTarget.value.trim() || null)}
      />
      <datalist id={id}>
        {UNITS.map((symbol) => (
          <option key={symbol} value={symbol} />
        ))}
      </datalist>
    </>
  );
}
