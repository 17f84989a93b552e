/** The standing questions: who asks, by which tier they are served, what they cost; explained in place. */

import { useState } from "preact/hooks";
import { Badge, Empty, Problem, Skeleton, Told } from "../../parts";
import { api, send } from "../../protocol/http";
import { href } from "../../state/address";
import { short } from "../../state/format";
import { useLoad } from "../../state/load";
import { texts } from "../../texts";
import { byCost, nameOf, ownerOf, tiers, type Standing } from "./standing";

const EVERY_MS = 5_000;
const MOST_SHOWN = 200;

export function Questions() {
  const { value, problem, again } = useLoad(
    "subscriptions",
    (ends) => api.get<{ subscriptions: Standing[]; total: number }>("/subscriptions", {}, ends),
    EVERY_MS,
  );
  const [open, setOpen] = useState("");
  if (!value) return problem ? <Problem text={problem} again={again} /> : <Skeleton lines={6} />;
  const all = byCost(value.subscriptions);
  if (all.length === 0) return <Empty>{texts.health.noQuestions}</Empty>;
  const columns = texts.health.questionColumns;
  return (
    <>
      <p class="tiers">
        {tiers(all).map(([tier, count]) => (
          <span key={tier}>
            <strong>{short(count)}</strong> <span class="quiet">{tier || texts.health.apart}</span>
          </span>
        ))}
      </p>
      <Problem text={problem} again={again} />
      <div class="wide" role="region" aria-label={texts.health.tabs.questions} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>{columns.name}</th>
              <th>{columns.tier}</th>
              <th class="number">{columns.rows}</th>
              <th class="number">{columns.updates}</th>
              <th class="number">{columns.each}</th>
              <th class="number">{columns.cost}</th>
              <th>
                <span class="hidden">{columns.more}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {all.slice(0, MOST_SHOWN).map((each) => (
              <Question key={each.spuid} standing={each} isOpen={open === each.spuid} toggle={() => setOpen(open === each.spuid ? "" : each.spuid)} />
            ))}
          </tbody>
        </table>
      </div>
      {value.total > MOST_SHOWN && <p class="quiet">{texts.health.moreQuestions(short(value.total - Math.min(all.length, MOST_SHOWN)))}</p>}
    </>
  );
}

interface QuestionProps {
  standing: Standing;
  isOpen: boolean;
  toggle(): void;
}

function Question({ standing, isOpen, toggle }: QuestionProps) {
  const kind = texts.health.kinds[standing.kind];
  return (
    <>
      <tr data-question={standing.spuid}>
        <td class="what">
          <Told title={standing.query}>{nameOf(standing)}</Told>{" "}
          <span class="quiet small">
            {kind} {standing.owner && <bdi class="told">{ownerOf(standing)}</bdi>}
            {standing.members > 1 && ` · ${texts.health.shared(short(standing.members))}`}
          </span>
        </td>
        <td>
          <Badge>{standing.tier || texts.health.apart}</Badge>
        </td>
        <td class="number">{short(standing.rows)}</td>
        <td class="number">{short(standing.updates)}</td>
        <td class="number">{standing.updates > 0 ? `${short(Math.round(standing.cost_us / standing.updates))} µs` : "–"}</td>
        <td class="number">{short(Math.round(standing.cost_us / 100) / 10)} ms</td>
        <td>
          <button type="button" class="plain" aria-expanded={isOpen} onClick={toggle}>
            {texts.health.explain}
          </button>
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={7}>
            <Explained standing={standing} />
          </td>
        </tr>
      )}
    </>
  );
}

function Explained({ standing }: { standing: Standing }) {
  const { value, problem, again } = useLoad(standing.spuid, async (ends) => {
    const answer = await send("/explain", {
      method: "POST",
      parameters: standing.windows && { windows: JSON.stringify(standing.windows) },
      headers: { "Content-Type": "application/sparql-query", Accept: "text/plain" },
      body: standing.query,
      signal: ends,
    });
    return answer.text();
  });
  return (
    <div class="explained">
      <Problem text={problem} again={again} />
      {value === undefined && !problem && <Skeleton lines={3} />}
      {value !== undefined && <pre tabIndex={0}>{value}</pre>}
      {standing.windows ? (
        <a href={href("ask", [], { query: standing.query, windows: JSON.stringify(standing.windows) })}>{texts.health.askIt}</a>
      ) : (
        <a href={href("why", ["quiet"], { query: standing.query })}>{texts.control.quiet}</a>
      )}
    </div>
  );
}
