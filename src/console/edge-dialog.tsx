// The dialog that shows one stored edge.

import { Boundary } from './boundary.tsx';
import { type WantedEdge, wantedEdge } from './edge-tag.tsx';
import { Failure } from './failure.tsx';
import { cellText, timeText } from './format.ts';
import { named } from './named.ts';
import { NodeLinks } from './node-link.tsx';
import { useEffect, useRef, useState } from './preact.ts';
import { client } from './session.ts';
import { address, tables } from './state.ts';
import { quoted } from './statement-words.ts';
import './style/views.css';

export function EdgeDialog() {
  const edge = wantedEdge.value;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (edge !== undefined && dialog.current?.open === false) dialog.current.showModal();
  }, [edge]);
  const close = () => {
    wantedEdge.value = undefined;
  };
  const place = address.value;
  const openedAt = useRef(place);
  useEffect(() => {
    // A link in the dialog leads to another page.
    if (openedAt.current !== place) close();
  }, [place]);
  if (edge === undefined) return null;
  return (
    <dialog ref={dialog} aria-labelledby="edge-title" onClose={close}>
      <h2 id="edge-title">
        Edge {edge.id} of {edge.table}
      </h2>
      <Boundary key={`${edge.table} ${edge.id}`}>
        <EdgeFields {...edge} />
      </Boundary>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}

function EdgeFields({ table, id }: WantedEdge) {
  const [row, setRow] = useState<Record<string, unknown> | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const item = named(tables.value, table);
  useEffect(() => {
    client()
      .query.run(`MATCH (e:${quoted(table)}) WHERE e.id = $id RETURN *`, { id })
      .then(({ rows }) => setRow(rows[0] ?? {}), setError);
  }, [table, id]);
  if (error !== undefined) return <Failure error={error} title="The edge cannot be shown" />;
  if (row === undefined) return <p class="quiet">Looking it up ...</p>;
  if (row.id === undefined) return <p>It is no longer there: it was deleted, or dropped by its age.</p>;
  return (
    <dl class="fields">
      {Object.entries(row).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {Array.isArray(value) && (name === 'members' || item?.roles.includes(name) === true) ? (
              <NodeLinks members={value} table={table} />
            ) : (
              cellText(value)
            )}
            {(name === 'event_ts' || name === 'end_ts') && <span class="quiet">{momentText(value)}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Returns the beginning or the end of an edge in words. */
function momentText(value: unknown): string {
  return value === null ? ' (it still holds)' : typeof value === 'number' ? ` ${timeText(value)} UTC` : '';
}
