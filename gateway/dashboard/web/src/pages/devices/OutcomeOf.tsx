/** What comes of a message: observations, what is wrong, triples. */

import { Badge, Problem, Told } from "../../parts";
import { href } from "../../state/address";
import { unit, value, whole } from "../../state/format";
import { called, calledProperty } from "../../state/streams";
import { texts } from "../../texts";
import type { Outcome, Seen } from "./told";
import { bySubject, inStore, literal, shortened, termInStore, type Triple } from "./triples";

interface Props {
  outcome: Outcome | null;
  /** Members that are missing. */
  lacking: string[];
  problem: string;
  /** The first observation that the message gave when it came, where the mapping is still that one. */
  observation: string | null;
}

export function OutcomeOf({ outcome, lacking, problem, observation }: Props) {
  const words = texts.devices.edits;
  if (lacking.length > 0) return <p class="quiet">{words.fillIn(lacking.map((name) => words.fields[name]).join(", "))}</p>;
  if (problem) return <Problem text={problem} />;
  if (!outcome) return null;
  return (
    <div class="outcome">
      {outcome.observations.map((seen, at) => (
        <One key={at} seen={seen} observation={nth(observation, at)} />
      ))}
      {outcome.observations.length === 0 && outcome.faults.length === 0 && <p class="quiet">{words.nothing}</p>}
      {outcome.faults.length > 0 && (
        <section>
          <h3>{words.faults}</h3>
          <ul>
            {outcome.faults.map((fault, at) => (
              <li key={at}>
                <Badge tone="person">{fault.reason}</Badge> <Told>{fault.detail}</Told>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Shapes outcome={outcome} />
      {outcome.triples.length > 0 && <Triples lines={outcome.triples} observation={observation} />}
    </div>
  );
}

function nth(first: string | null, at: number): string | null {
  return first && inStore(`x/observation/0-${at + 1}`, first);
}

function One({ seen, observation }: { seen: Seen; observation: string | null }) {
  const text = value(literal(seen.result, seen.datatype), seen.property);
  const shown = (
    <>
      <Told>{text}</Told> <span class="unit">{unit(seen.unit ?? undefined)}</span>
    </>
  );
  const words = texts.devices.edits;
  return (
    <article class="observation">
      <p class="big">
        {observation ? (
          <a href={href("why", ["trail"], { iri: observation })} title={texts.devices.why}>
            {shown}
          </a>
        ) : (
          shown
        )}
      </p>
      <p>
        <Told title={seen.property}>{words.observation(calledProperty(seen.property), called(seen.feature))}</Told>
      </p>
      <p class="quiet small">
        {words.measuredBy} <Told title={seen.sensor}>{called(seen.sensor)}</Told> · {words.at}{" "}
        {seen.phenomenonTime ? whole(Date.parse(seen.phenomenonTime)) : words.ownTime}
      </p>
    </article>
  );
}

function Shapes({ outcome }: { outcome: Outcome }) {
  const words = texts.devices.edits;
  if (outcome.violations === null) return <p class="quiet small">{outcome.violationsNote}</p>;
  if (outcome.violations.length === 0) {
    return outcome.triples.length > 0 ? <p class="quiet small">{words.fits}</p> : null;
  }
  return (
    <section>
      <h3>{words.violations}</h3>
      <ul>
        {outcome.violations.map((each, at) => (
          <li key={at}>
            <Badge tone="person">{shortened(`<${each.path}>`)}</Badge> <Told>{each.message}</Told>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Triples({ lines, observation }: { lines: string[]; observation: string | null }) {
  return (
    <details>
      <summary>{texts.devices.edits.triples(lines.length)}</summary>
      {bySubject(lines).map(([subject, triples]) => (
        <dl key={subject} class="triples small">
          <dt>
            <Told title={subject}>{shortened(subject)}</Told>
          </dt>
          {triples.map((triple) => (
            <dd key={triple.predicate + triple.object}>
              <TripleOf triple={triple} observation={observation} />
            </dd>
          ))}
        </dl>
      ))}
    </details>
  );
}

function TripleOf({ triple, observation }: { triple: Triple; observation: string | null }) {
  const text = (
    <>
      <span class="quiet">{shortened(triple.predicate)}</span> <Told title={triple.object}>{shortened(triple.object)}</Told>
    </>
  );
  const [subject, object] = [termInStore(triple.subject, observation), termInStore(triple.object, observation)];
  if (!observation || !subject || !object) return text;
  const { predicate } = triple;
  return (
    <a href={href("why", ["trail"], { subject, predicate, object })} title={texts.devices.why}>
      {text}
    </a>
  );
}
