// The edges of a node in one table, the newest first, page by page.

import { EdgeTag } from '../edge-tag.tsx';
import { Empty, Failure } from '../failure.tsx';
import { countText, timeText } from '../format.ts';
import { NodeLinks } from '../node-link.tsx';
import { useEffect, useState } from '../preact.ts';
import { Scrolling } from '../scrolling.tsx';
import type { TimeWindow } from '../state.ts';
import { type NodeEdge, newestEdges, type Presence } from './presence.ts';

const PAGE = 20;
const MOST_MEMBERS = 24;

export function EdgePages({ presence, window }: { presence: Presence; window: TimeWindow | undefined }) {
  const { table } = presence;
  const [first, setFirst] = useState(0);
  const [found, setFound] = useState<readonly NodeEdge[] | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  useEffect(() => {
    let isGone = false;
    setError(undefined);
    // One more than a page has, to know whether another one follows.
    newestEdges(presence, window, first, PAGE + 1).then(
      (edges) => !isGone && setFound(edges),
      (failed) => !isGone && setError(failed),
    );
    return () => {
      isGone = true;
    };
  }, [presence, first]);
  if (error !== undefined) return <Failure error={error} title="The edges cannot be listed" />;
  if (found === undefined) return <p class="waiting">Looking for its edges ...</p>;
  if (found.length === 0)
    return <Empty title="No edges in this stretch">Choose another one, or all of its time.</Empty>;
  const shown = found.slice(0, PAGE);
  return (
    <div>
      <Scrolling label={`Newest edges of ${table.name}`}>
        <table class="grid">
          <thead>
            <tr>
              <th scope="col">Edge</th>
              <th scope="col">{table.intervals ? 'From' : 'Time'} (UTC)</th>
              {table.intervals && <th scope="col">Until</th>}
              {table.roles.length > 0 && <th scope="col">As</th>}
              <th scope="col">Members</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((edge) => (
              <Row key={edge.id} edge={edge} table={table} />
            ))}
          </tbody>
        </table>
      </Scrolling>
      <div class="pager">
        <span class="quiet" aria-live="polite">
          Edges {first + 1} to {first + shown.length}
          {window === undefined && ` of ${countText(presence.edges, 'edge')}`}
        </span>
        <button type="button" disabled={first === 0} onClick={() => setFirst(Math.max(0, first - PAGE))}>
          Newer
        </button>
        <button type="button" disabled={found.length <= PAGE} onClick={() => setFirst(first + PAGE)}>
          Older
        </button>
      </div>
    </div>
  );
}

function Row({ edge, table }: { edge: NodeEdge; table: Presence['table'] }) {
  const { id, ts, until, roles, members } = edge;
  return (
    <tr>
      <td>
        <EdgeTag table={table.name} id={id} />
      </td>
      <td class="number">{timeText(ts)}</td>
      {table.intervals && <td class="number">{until === null ? <i class="quiet">still</i> : timeText(until ?? 0)}</td>}
      {table.roles.length > 0 && <td>{roles.join(', ')}</td>}
      <td>
        <NodeLinks members={members.slice(0, MOST_MEMBERS)} table={table.name} />
        {members.length > MOST_MEMBERS && (
          <span class="quiet"> and {countText(members.length - MOST_MEMBERS, 'more', 'more')}</span>
        )}
      </td>
    </tr>
  );
}
