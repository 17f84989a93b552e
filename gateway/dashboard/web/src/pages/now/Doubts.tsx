/** What is doubtful of a stream's last value, in words. */

import { Badge } from "../../parts";
import { age, since } from "../../state/format";
import { bufferedMs, type Stream } from "../../state/streams";
import { texts } from "../../texts";

const { badges, badgeMeanings } = texts.now;

export function isDoubtful(stream: Stream): boolean {
  const reading = stream.latest.value;
  return stream.absence.value !== null || reading.clockSuspect || bufferedMs(reading) > 0;
}

export function Doubts({ stream }: { stream: Stream }) {
  const reading = stream.latest.value;
  const absence = stream.absence.value;
  const buffered = bufferedMs(reading);
  if (!isDoubtful(stream)) return null;
  return (
    <span class="doubts">
      {absence && (
        <Badge tone="person" title={absence.isOffline ? badgeMeanings.offline : badgeMeanings.silent}>
          {absence.isOffline ? badges.offline : badges.silent} {texts.now.since(since(absence.since))}
        </Badge>
      )}
      {reading.clockSuspect && (
        <Badge tone="doubt" title={badgeMeanings.clock}>
          {badges.clock}
        </Badge>
      )}
      {buffered > 0 && (
        <Badge tone="doubt" title={badgeMeanings.buffered(age(buffered))}>
          {badges.buffered}
        </Badge>
      )}
    </span>
  );
}
