/** One actuator: what it is, how it is, what sets it, and what became of the last command. */

import { useEffect, useRef } from "preact/hooks";
import { Age, Badge, Told } from "../../parts";
import { isNumeric, type Term } from "../../protocol/terms";
import { href } from "../../state/address";
import { now } from "../../state/clock";
import { age, number, timeOfDay, unit, value, whole } from "../../state/format";
import { calledProperty, type Stream } from "../../state/streams";
import { texts } from "../../texts";
import { type Actuator, controlOf, type Wanted } from "./actuators";
import { type Command, hasEnded, seconds, tookS } from "./commands";
import { command, refusals } from "./commanding";
import { Details } from "./Details";
import { Input } from "./Inputs";
import type { Rule } from "./rules";

interface LineProps {
  actuator: Actuator;
  stream: Stream | undefined;
  commands: Command[];
  rules: Rule[];
  mayCommand: boolean;
  /** Whether what is not there is not there, rather than not told yet. */
  isReady: boolean;
  isOpen: boolean;
}

export function Line({ actuator, stream, commands, rules, mayCommand, isReady, isOpen }: LineProps) {
  const last = commands[0];
  const isPending = last !== undefined && !hasEnded(last);
  const observed = stream?.latest.value;
  const told = observed?.value.value ?? "";
  const property = calledProperty(actuator.property);
  const shown = isPending ? String(last.value) : told;
  const refusal = refusals.value.get(actuator.id);
  const line = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isOpen) line.current?.scrollIntoView({ block: "nearest" });
  }, [isOpen]);
  return (
    <li ref={line} class="actuator" data-actuator={actuator.name} aria-label={actuator.name}>
      <div class="set">
        <a
          class="name"
          href={href("control", isOpen ? [] : [actuator.name])}
          aria-expanded={isOpen}
          title={texts.control.more}
        >
          <Told title={actuator.id}>{actuator.name}</Told>
          <span class="quiet small">{property}</span>
        </a>
        <span class="state">
          {observed ? (
            <>
              <bdi class="told">{said(observed.value, actuator.property)}</bdi>{" "}
              <span class="quiet small">
                {unit(observed.unit)} <Age at={observed.at} />
              </span>
            </>
          ) : (
            isReady && <span class="quiet">{texts.control.unknown}</span>
          )}
        </span>
        <span class="input">
          {mayCommand && (
            <Input
              actuator={actuator}
              control={controlOf(actuator, told)}
              told={shown}
              isPending={isPending}
              label={`${actuator.name}, ${property}`}
              send={(wanted) => void command(actuator, wanted)}
            />
          )}
        </span>
        <span class="became" role="status">
          {refusal ? (
            <span class="failure">
              <Badge tone="person">{texts.control.failed}</Badge> <bdi class="told">{refusal}</bdi>
            </span>
          ) : (
            last && <Became command={last} property={actuator.property} />
          )}
        </span>
      </div>
      {isOpen && <Details actuator={actuator} commands={commands} rules={rules} isReady={isReady} mayCommand={mayCommand} />}
    </li>
  );
}

function said(term: Term, property: string): string {
  return isNumeric(term) ? number(term.value) : value(term, property);
}

/** What somebody wanted, as people say it. */
export function wanted(asked: Wanted, property: string): string {
  if (typeof asked === "boolean") {
    return value({ type: "literal", value: String(asked), datatype: "http://www.w3.org/2001/XMLSchema#boolean" }, property);
  }
  return typeof asked === "number" ? number(String(asked)) : asked;
}

/** Pending; or confirmed by which reading, failed why, after which time. */
export function Became({ command: one, property }: { command: Command; property: string }) {
  const took = seconds(tookS(one));
  if (!hasEnded(one)) {
    const since = now.value - (one.requestedAt || now.value);
    return (
      <>
        <Badge tone="doubt" title={one.status === "sent" ? texts.control.sent : texts.control.pending}>
          {texts.control.pending}
        </Badge>{" "}
        <span class="quiet small">
          <bdi class="told">{texts.control.value(wanted(one.value, property))}</bdi> {age(since)}
        </span>
      </>
    );
  }
  const after = took && `· ${texts.control.after(took)}`;
  if (one.status === "confirmed") {
    return (
      <>
        <Badge tone="good">✓ {texts.control.confirmed}</Badge>{" "}
        <span class="quiet small" title={whole(one.endedAt)}>
          {one.observation && <a href={href("why", ["trail"], { iri: one.observation })}>{texts.control.by}</a>}{" "}
          {one.observation ? after : texts.control.after(took)}
        </span>
      </>
    );
  }
  if (one.status === "superseded") return <Badge>{texts.control.superseded}</Badge>;
  return (
    <span class="failure">
      <Badge tone="person">{texts.control.failed}</Badge>{" "}
      <span class="small" title={whole(one.endedAt)}>
        <bdi class="told">{one.reason}</bdi> {after}
      </span>
    </span>
  );
}

export function when(at: number): string {
  return Number.isFinite(at) ? timeOfDay(at) : "";
}


