// The edges of a node, table by table: how many, when, the newest ones, and the nodes they share.

import type { Table } from '../../client/index.ts';
import { Empty, Failure } from '../failure.tsx';
import { countText, timeText } from '../format.ts';
import { named } from '../named.ts';
import type { NodePlace } from '../node-link.tsx';
import { PlotFrame } from '../plot-frame.tsx';
import { useEffect, useMemo, useState } from '../preact.ts';
import { revision, type TimeWindow, tables } from '../state.ts';
import { EdgePages } from './edge-pages.tsx';
import { Neighbours } from './neighbours.tsx';
import { activityAt, edgesAt, type Presence } from './presence.ts';

/** Tables after these are folded, so that a node in many tables does not cause many requests. */
const MOST_OPEN = 3;

export function NodeEdges({ place, isNamed }: { place: NodePlace; isNamed: boolean }) {
  const [found, setFound] = useState<readonly Presence[] | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const now = revision.value;
  const wanted = tables.value.filter((table) => mayHold(table, place, isNamed));
  useEffect(() => {
    let isGone = false;
    edgesAt(place, wanted).then(
      (all) => {
        if (isGone) return;
        setFound(all);
        setError(undefined);
      },
      (failed) => {
        if (!isGone) setError(failed);
      },
    );
    return () => {
      isGone = true;
    };
  }, [place, now]);
  if (error !== undefined) return <Failure error={error} title="The edges of the node cannot be shown" />;
  if (found === undefined) return <p class="waiting">Looking for its edges ...</p>;
  const present = found.filter(({ edges }) => edges > 0);
  const absent = found.filter(({ edges }) => edges === 0).map(({ table }) => table.name);
  return (
    <>
      {present.map((presence, at) => (
        <TableEdges key={presence.table.name} presence={presence} isOpen={at < MOST_OPEN} />
      ))}
      {present.length === 0 && (
        <section class="panel" aria-label="Edges">
          <Empty title="In no edge">
            {absent.length === 0
              ? `No table has nodes of ${place.table} as members.`
              : `No edge of ${absent.join(', ')} has this node.`}
          </Empty>
        </section>
      )}
      {present.length > 0 && absent.length > 0 && <p class="quiet">In no edge of {absent.join(', ')}.</p>}
    </>
  );
}

function mayHold(table: Table, place: NodePlace, isNamed: boolean): boolean {
  if (!isNamed) return table.name === place.table;
  return (
    table.nodes === 'named' &&
    named(
      table.member_tables.map((name) => ({ name })),
      place.table,
    ) !== undefined
  );
}

function TableEdges({ presence, isOpen }: { presence: Presence; isOpen: boolean }) {
  const { table, edges, first, last } = presence;
  const [isShown, setShown] = useState(isOpen);
  const [window, setWindow] = useState<TimeWindow | undefined>(undefined);
  return (
    <section class="panel" aria-label={`Edges of ${table.name}`}>
      <details open={isShown} onToggle={(event) => setShown(event.currentTarget.open)}>
        <summary class="node-table">
          <h3>{table.name}</h3>
          <span class="quiet">
            {countText(edges, 'edge')}, {first === last ? timeText(first) : `${timeText(first)} to ${timeText(last)}`}{' '}
            UTC
          </span>
        </summary>
        {isShown && (
          <div class="node-edges">
            <Strip presence={presence} window={window} onWindow={setWindow} />
            <div class="node-columns">
              <EdgePages key={`${window?.start} ${window?.end}`} presence={presence} window={window} />
              <Neighbours presence={presence} />
            </div>
          </div>
        )}
      </details>
    </section>
  );
}

/** Range of the JavaScript Date: this many seconds before and after 1970. */
const CALENDAR_SECONDS = 8.64e12;

interface StripProps {
  readonly presence: Presence;
  readonly window: TimeWindow | undefined;
  readonly onWindow: (window: TimeWindow | undefined) => void;
}

/** Shows the edges of the node over time. The user drags over it to see those of a stretch. */
function Strip({ presence, window, onWindow }: StripProps) {
  const [bars, setBars] = useState<Awaited<ReturnType<typeof activityAt>> | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  useEffect(() => {
    activityAt(presence).then(setBars, setError);
  }, [presence]);
  const input = useMemo(
    () =>
      bars && {
        x: bars.starts,
        y: bars.counts,
        barWidth: bars.width,
        isTime: presence.first > -CALENDAR_SECONDS && presence.last < CALENDAR_SECONDS,
        height: 90,
        yLabel: 'edges',
        // A bar may be only a pixel wide, so every bar that is touched counts as a whole.
        onBrush: (start: number, end: number) => {
          const barAt = (time: number) => bars.from + Math.floor((time - bars.from) / bars.width) * bars.width;
          onWindow({ start: barAt(start), end: barAt(end) + bars.width - 1 });
        },
      },
    [bars],
  );
  if (error !== undefined) return <Failure error={error} title="The edges over time cannot be shown" />;
  return (
    <div class="node-strip">
      {input !== undefined && (
        <PlotFrame
          input={input}
          marked={window}
          label={`${countText(presence.edges, 'edge')} of ${presence.table.name} with this node over time. Drag over it to list those of a stretch.`}
        />
      )}
      {window !== undefined && (
        <p class="quiet">
          {timeText(window.start)} to {timeText(window.end)} UTC{' '}
          <button type="button" class="plain" onClick={() => onWindow(undefined)}>
            All of its time
          </button>
        </p>
      )}
    </div>
  );
}
