// Queries a virtual graph: a field for the query, the hyperedges found, and the SQL that was run.

import { Empty, Failure } from '../failure.tsx';
import { cellText, countText, timeText } from '../format.ts';
import { useEffect, useState } from '../preact.ts';
import { Scrolling } from '../scrolling.tsx';
import { limitOf } from '../statement-words.ts';
import { type VirtualAnswer, virtualGraphs } from './calls.ts';

/** Maximum number of hyperedges shown. */
const MOST_EDGES = 200;

/**
 * Returns the number of hyperedges to request: one more than are shown, to find out whether there
 * are more, or the LIMIT of the query if that is smaller.
 */
function edgesToAsk(query: string): number {
  return Math.min(limitOf(query) ?? Infinity, MOST_EDGES + 1);
}

export function GraphQuery({ id, label }: { id: string; label: string }) {
  const [query, setQuery] = useState('');
  const [answer, setAnswer] = useState<VirtualAnswer | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  useEffect(() => {
    virtualGraphs.get(id).then((spec) => setQuery(firstQuery(spec, label)), setError);
  }, [id]);
  const run = async (event: Event) => {
    event.preventDefault();
    try {
      setAnswer(await virtualGraphs.query(id, query, edgesToAsk(query)));
      setError(undefined);
    } catch (failed) {
      setAnswer(undefined);
      setError(failed);
    }
  };
  return (
    <section class="panel" aria-label={`Query of ${id}`}>
      <h2>Query {id}</h2>
      <form onSubmit={run}>
        <label for="virtual-query">Query</label>
        <textarea
          id="virtual-query"
          class="code"
          rows={3}
          spellcheck={false}
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
        <button type="submit" class="primary">
          Run query
        </button>
      </form>
      <Failure error={error} title="The query was not run" />
      {answer !== undefined && <Hyperedges answer={answer} />}
    </section>
  );
}

/**
 * Returns a query for all members of the edge that has the label, or of the first edge if none has
 * it.
 */
function firstQuery(spec: Record<string, unknown>, label: string): string {
  const edges = Array.isArray(spec.edges)
    ? (spec.edges as { label: string; members: { name: string; node_label: string }[] }[])
    : [];
  const edge = edges.find((item) => item.label === label) ?? edges[0];
  const members = (edge?.members ?? []).map((member) => `${member.name}:${member.node_label}`);
  return `MATCH (a:${edge?.label ?? label}){${members.join(', ')}} RETURN a LIMIT 50`;
}

function propertiesText(properties: object): string {
  return Object.entries(properties)
    .map(([name, value]) => `${name}: ${cellText(value)}`)
    .join(', ');
}

function Hyperedges({ answer }: { answer: VirtualAnswer }) {
  if (answer.count === 0) return <Empty title="No hyperedges">Loosen the conditions of the query.</Empty>;
  return (
    <>
      <p class="quiet" aria-live="polite">
        {answer.count > MOST_EDGES
          ? `The first ${MOST_EDGES} hyperedges; there are more`
          : countText(answer.count, 'hyperedge')}
        {answer.cached ? ', from the cache' : ''}
        {answer.skipped > 0 && `, ${countText(answer.skipped, 'row')} without members or time left out`}
      </p>
      <Scrolling label="Hyperedges">
        <table class="grid">
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Members</th>
              <th scope="col">Properties</th>
            </tr>
          </thead>
          <tbody>
            {answer.hyperedges.slice(0, MOST_EDGES).map((edge, at) => (
              <tr key={at}>
                <td class="number">{timeText(edge.event_ts)}</td>
                <td>{edge.members.map((member) => `${member.vertex_local_id} (${member.name})`).join(', ')}</td>
                <td>{propertiesText(edge.properties)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolling>
      <details>
        <summary>The SQL it became</summary>
        <pre class="json">{answer.sql}</pre>
      </details>
    </>
  );
}
