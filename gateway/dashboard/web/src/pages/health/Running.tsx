/** Who is connected, what is configured, what the log says. */

import { useState } from "preact/hooks";
import { Badge, Empty, Problem, Search, Skeleton, Told } from "../../parts";
import { api } from "../../protocol/http";
import { short, timeOfDay, whole } from "../../state/format";
import { useLoad } from "../../state/load";
import { texts } from "../../texts";

const EVERY_MS = 3_000;
const LINES = 200;

interface Connected {
  mqtt: Record<string, unknown>[];
  /** Connections by address, WebSockets and streams. */
  websocket: Record<string, unknown>[];
  clients: Record<string, unknown>[];
  streams: number;
}

export function ConnectedList() {
  const { value, problem, again } = useLoad("connected", (ends) => api.get<Connected>("/connected", {}, ends), EVERY_MS);
  if (!value) return problem ? <Problem text={problem} again={again} /> : <Skeleton lines={4} />;
  return (
    <>
      <Problem text={problem} again={again} />
      <Transport title={texts.health.mqtt} all={value.mqtt} />
      <Transport title={texts.health.websocket} all={value.websocket} />
      <Transport title={texts.health.subscribers} all={value.clients} />
      <p class="quiet">{texts.health.eventStreams(short(value.streams))}</p>
    </>
  );
}

function Transport({ title, all }: { title: string; all: Record<string, unknown>[] }) {
  const columns = [...new Set(all.flatMap((each) => Object.keys(each)))];
  return (
    <section>
      <h2>
        {title} <span class="quiet">{short(all.length)}</span>
      </h2>
      {all.length === 0 && <p class="quiet">{texts.health.nobody}</p>}
      {all.length > 0 && (
        <div class="wide" role="region" aria-label={title} tabIndex={0}>
          <table>
            <thead>
              <tr>
                {columns.map((name) => (
                  <th key={name} class={isNumber(all, name) ? "number" : ""}>
                    {texts.health.connectedColumns[name] ?? name.replace(/_/g, " ")}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {all.map((each, index) => (
                <tr key={index}>
                  {columns.map((name) => (
                    <td key={name} class={isNumber(all, name) ? "number" : ""}>
                      <Told>{cell(each[name])}</Told>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function isNumber(all: Record<string, unknown>[], name: string): boolean {
  return all.some((each) => typeof each[name] === "number");
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return short(value);
  if (typeof value === "boolean") return value ? texts.health.yes : texts.health.no;
  if (Array.isArray(value)) return value.map(cell).join(", ");
  return String(value);
}

interface Setting {
  name: string;
  value: unknown;
  default: boolean;
}

export function Configuration() {
  const { value, problem, again } = useLoad("configuration", (ends) =>
    api.get<{ sections: { name: string; settings: Setting[] }[] }>("/configuration", {}, ends),
  );
  const [hasAll, setAll] = useState(false);
  if (!value) return problem ? <Problem text={problem} again={again} /> : <Skeleton lines={8} />;
  const sections = value.sections
    .map(({ name, settings }) => ({ name, settings: settings.filter((each) => hasAll || !each.default) }))
    .filter(({ settings }) => settings.length > 0);
  return (
    <>
      <label class="check">
        <input type="checkbox" checked={hasAll} onChange={(event) => setAll(event.currentTarget.checked)} />
        {texts.health.defaults}
      </label>
      {sections.length === 0 && <Empty>{texts.health.allDefault}</Empty>}
      {sections.map(({ name, settings }) => (
        <section key={name} class="configuration">
          <h2>
            <code>[{name}]</code>
          </h2>
          <dl>
            {settings.map((each) => (
              <div key={each.name} class={each.default ? "quiet" : ""}>
                <dt>
                  <code>{each.name}</code>
                </dt>
                <dd>
                  <bdi class="told">{typeof each.value === "string" ? each.value : JSON.stringify(each.value)}</bdi>
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </>
  );
}

interface LogLine {
  t: number | string;
  level: string;
  logger: string;
  text: string;
}

const LEVELS = ["debug", "info", "warning", "error"];

export function Log() {
  const { value, problem, again } = useLoad(
    "log",
    (ends) => api.get<{ lines: LogLine[] }>("/log", { lines: LINES }, ends),
    EVERY_MS,
  );
  const [least, setLeast] = useState("info");
  const [find, setFind] = useState("");
  if (!value) return problem ? <Problem text={problem} again={again} /> : <Skeleton lines={8} />;
  const shown = value.lines.filter(
    ({ level, text, logger }) =>
      rank(level) >= rank(least) && `${logger} ${text}`.toLowerCase().includes(find.toLowerCase()),
  );
  return (
    <>
      <div class="head">
        <Search label={texts.health.searchLog} value={find} onText={setFind} />
        <select aria-label={texts.health.level} value={least} onChange={(event) => setLeast(event.currentTarget.value)}>
          {LEVELS.map((level) => (
            <option key={level} value={level}>
              {texts.health.levels[level]}
            </option>
          ))}
        </select>
      </div>
      <Problem text={problem} again={again} />
      {shown.length === 0 && <Empty>{texts.health.noLog}</Empty>}
      <ol class="log" tabIndex={0} aria-label={texts.health.tabs.log}>
        {[...shown].reverse().map((line, index) => (
          <li key={`${line.t} ${index}`} class={line.level.toLowerCase()}>
            <time title={whole(at(line.t))}>{timeOfDay(at(line.t))}</time>
            <Badge tone={rank(line.level) > 2 ? "person" : rank(line.level) > 1 ? "doubt" : ""}>{line.level.toLowerCase()}</Badge>
            <bdi class="told">{line.text}</bdi>
          </li>
        ))}
      </ol>
    </>
  );
}

function at(told: number | string): number {
  return typeof told === "number" ? told : Date.parse(told);
}

function rank(level: string): number {
  const place = LEVELS.indexOf(level.toLowerCase());
  return place < 0 ? LEVELS.length : place;
}
