/** What passes and how fast, what is wrong, and how much room there is. */

import { computed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Age, Problem, Skeleton, Told } from "../../parts";
import { alarms } from "../../frame/news";
import { send, api } from "../../protocol/http";
import { me } from "../../protocol/session";
import { address, href } from "../../state/address";
import { age, bytes, short } from "../../state/format";
import { useLoad } from "../../state/load";
import { texts } from "../../texts";
import { path } from "../now/Sparkline";
import { flow, flowProblem, type Stage, trends, useFlow } from "./flow";
import { type Disk, diskOf, metricsOf, room } from "./metrics";

const EVERY_MS = 10_000;
const SCARCE_H = 24;

export function Overview() {
  useFlow();
  return (
    <>
      <Passing />
      <Wrong />
      <Room />
    </>
  );
}

function Passing() {
  const told = flow.value;
  return (
    <section aria-label={texts.health.flow}>
      <Problem text={flowProblem.value} />
      {!told && !flowProblem.value && <Skeleton lines={4} />}
      {told && (
        <>
          <ol class="flow">
            {told.stages.map((stage) => (
              <Station key={stage.name} stage={stage} />
            ))}
          </ol>
          <p class="latency">
            {texts.health.latency}{" "}
            <strong>{ms(told.latency_ms.p50)}</strong> <span class="quiet">{texts.health.half}</span>{" "}
            <strong>{ms(told.latency_ms.p99)}</strong> <span class="quiet">{texts.health.most}</span>
          </p>
        </>
      )}
    </section>
  );
}

function ms(value: number | null): string {
  return value === null ? "–" : `${short(value < 100 ? Math.round(value * 10) / 10 : Math.round(value))} ms`;
}

const WIDTH = 72;
const HEIGHT = 20;

function Station({ stage }: { stage: Stage }) {
  const points = trends.value.get(stage.name) ?? [];
  const name = texts.health.stages[stage.name as keyof typeof texts.health.stages] ?? stage.name;
  return (
    <li data-stage={stage.name}>
      <h2>{name}</h2>
      <p class="rate">
        {short(Math.round(stage.rate_10s * 10) / 10)} <span class="quiet">{texts.health.perSecond}</span>
      </p>
      <svg class="sparkline" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
        {points.length > 1 && <polyline points={path(points)} />}
      </svg>
      <p class="small quiet">{texts.health.since(short(stage.count))}</p>
      <p class={stage.waiting > 0 ? "small doubt" : "small quiet"}>
        {stage.waiting > 0 ? texts.health.waiting(short(stage.waiting)) : texts.health.nothingWaits}
      </p>
    </li>
  );
}

function Wrong() {
  return (
    <section>
      <h2>{texts.health.alarms}</h2>
      {alarms.value.length === 0 && <p class="quiet">{texts.health.noAlarms}</p>}
      <ul class="alarms">
        {alarms.value.map((alarm) => (
          <li key={`${alarm.kind} ${alarm.where}`} data-alarm={alarm.kind} class={alarm.fault ? "fault" : ""}>
            <p>
              <strong><bdi class="told">{alarm.what}</bdi></strong>{" "}
              <span class="quiet small"><bdi class="told">{alarm.where}</bdi> · <Age at={Date.parse(alarm.since)} /></span>
            </p>
            <p><bdi class="told">{alarm.what_to_do}</bdi></p>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface State {
  version: string;
  uptime_s: number;
}

function Room() {
  const metrics = useLoad("metrics", async (ends) => (await send("/metrics", { signal: ends })).text(), EVERY_MS);
  const state = useLoad("health", (ends) => healthOf(ends), EVERY_MS);
  const disk = useMemo(() => (metrics.value === undefined ? null : diskOf(metricsOf(metrics.value))), [metrics.value]);
  return (
    <section>
      <h2>{texts.health.room}</h2>
      <Problem text={metrics.problem} again={metrics.again} />
      <dl class="facts">
        {disk && <DiskFacts disk={disk} />}
        <div>
          <dt>{texts.health.version}</dt>
          <dd>
            <Told>{state.value?.version ?? me.value?.version ?? ""}</Told>
          </dd>
        </div>
        {state.value && (
          <div>
            <dt>{texts.health.runs}</dt>
            <dd>{age(state.value.uptime_s * 1000)}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}

/** While an alarm is a fault it is answered with 503, and the same members. */
async function healthOf(ends: AbortSignal): Promise<State> {
  try {
    return await api.get<State>("/health", {}, ends);
  } catch (error) {
    if ((error as { status?: number }).status === 503) return { version: me.value?.version ?? "", uptime_s: Number.NaN };
    throw error;
  }
}

function DiskFacts({ disk }: { disk: Disk }) {
  const left = room(disk.hoursLeft, texts.health.left);
  const isScarce = disk.isFull || disk.hoursLeft < SCARCE_H;
  return (
    <>
      <div>
        <dt>{texts.health.hoursLeft}</dt>
        <dd class={isScarce ? "person" : ""}>{disk.isFull ? texts.health.full : left}</dd>
      </div>
      <div>
        <dt>{texts.health.journal}</dt>
        <dd>{bytes(disk.journalBytes)}</dd>
      </div>
      <div>
        <dt>{texts.health.segments}</dt>
        <dd class={disk.isShippingFailing ? "person" : ""}>
          {texts.health.shipped(short(disk.shipped), short(disk.unshipped))}
        </dd>
      </div>
      <div>
        <dt>{texts.health.store}</dt>
        <dd class={disk.isStoreFailing ? "person" : ""}>{disk.isStoreFailing ? texts.health.fails : texts.health.works}</dd>
      </div>
      <div>
        <dt>{texts.health.tabs.quarantine}</dt>
        <dd>
          <a href={href("health", ["quarantine"], address.peek().parameters)}>
            {texts.health.messages(short(disk.quarantined))}
          </a>{" "}
          <span class="quiet small">{bytes(disk.quarantineBytes)}</span>
        </dd>
      </div>
    </>
  );
}

/** Whether something is wrong: for the tab. */
export const wrong = computed(() => alarms.value.length);
