/** What the change would have made of the messages that are kept, before it is made. */

import { useEffect, useState } from "preact/hooks";
import { Problem, Told } from "../../parts";
import { subscriptions } from "../../protocol/session";
import { short, unit } from "../../state/format";
import { called, calledProperty } from "../../state/streams";
import { texts } from "../../texts";
import { questionNames } from "./opened";
import { answers, sum } from "./report";
import { type Edits, rehearse, type Rehearsed, type Report } from "./told";

const MOST = 50;

export function Rehearsal({ edits, isReady }: { edits: Edits; isReady: boolean }) {
  const [report, setReport] = useState<Report | null>(null);
  const [names, setNames] = useState(new Map<string, string>());
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  // A report is of one change: another edit wants another.
  useEffect(() => setReport(null), [JSON.stringify(edits)]);
  const start = async (): Promise<void> => {
    setBusy(true);
    setProblem("");
    setReport(null);
    try {
      const [told, called_] = await Promise.all([rehearse(edits), questionNames()]);
      // What this page watches, to be live, nobody has asked for.
      const asked = told.subscriptions.filter(({ query }) => !subscriptions.asks(query));
      setReport({ ...told, subscriptions: asked });
      setNames(called_);
    } catch (error) {
      setProblem((error as Error).message);
    }
    setBusy(false);
  };
  return (
    <section class="rehearsal" aria-label={texts.devices.edits.rehearse} aria-live="polite">
      <button type="button" disabled={!isReady || isBusy} onClick={() => void start()}>
        {texts.devices.edits.rehearse}
      </button>
      {!report && !problem && <p class="quiet">{isBusy ? texts.devices.edits.rehearsing : texts.devices.edits.rehearseHint}</p>}
      <Problem text={problem} />
      {report && <ReportOf report={report} names={names} />}
    </section>
  );
}

function ReportOf({ report, names }: { report: Report; names: Map<string, string> }) {
  const words = texts.devices.edits;
  const lines = answers(report, names);
  const count = (name: string, told: number): string => short(report.counts[name] ?? told);
  return (
    <div class="report">
      <p class="sum">{sum(report)}</p>
      {report.messages < report.kept && <p class="quiet">{words.partly(short(report.messages), short(report.kept))}</p>}
      {report.subscriptions_skipped && <p class="quiet">{report.subscriptions_skipped}</p>}
      <ul>
        {lines.length === 0 && !report.subscriptions_skipped && <li class="quiet">{words.noRows}</li>}
        {lines.map((line) => (
          <li key={line}>
            <Told>{line}</Told>
          </li>
        ))}
      </ul>
      {report.observations.length > 0 && (
        <details>
          <summary>{words.differences(count("observations", report.observations.length))}</summary>
          <Differences report={report} />
        </details>
      )}
      {report.faults.length > 0 && (
        <details>
          <summary>{words.faultsThen(count("faults", report.faults.length))}</summary>
          <ul class="small">
            {report.faults.slice(0, MOST).map((fault, at) => (
              <li key={at}>
                {fault.kind === "added" ? "+" : "−"} <Told>{`${fault.topic}: ${fault.reason}, ${fault.detail}`}</Told>
              </li>
            ))}
          </ul>
        </details>
      )}
      <Quads report={report} />
    </div>
  );
}

function Differences({ report }: { report: Report }) {
  return (
    <ul class="differences small">
      {report.observations.slice(0, MOST).map((each, at) => (
        <li key={at}>
          <Told>{each.topic}</Told> <Side one={each.old} other={each.new} /> → <Side one={each.new} other={each.old} />
        </li>
      ))}
    </ul>
  );
}

/** One side of a difference: its value, and what is another besides. */
function Side({ one, other }: { one: Rehearsed | null; other: Rehearsed | null }) {
  if (!one) return <span class="quiet">{texts.devices.edits.nothingThere}</span>;
  const more = [
    other?.property === one.property ? "" : calledProperty(one.property),
    other?.feature === one.feature ? "" : called(one.feature),
  ].filter(Boolean);
  return <Told>{[one.result, unit(one.unit ?? undefined), ...(more.length > 0 ? [`(${more.join(", ")})`] : [])].join(" ").trim()}</Told>;
}

function Quads({ report }: { report: Report }) {
  const { added, removed } = report.triples;
  if (added.length + removed.length === 0) return null;
  return (
    <details>
      <summary>{texts.devices.edits.triplesThen(short(added.length), short(removed.length))}</summary>
      <pre class="small">
        {[...added.slice(0, MOST).map((line) => `+ ${line}`), ...removed.slice(0, MOST).map((line) => `− ${line}`)].join("\n")}
      </pre>
    </details>
  );
}
