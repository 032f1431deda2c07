// The view that shows the state of the service: health, load, log and latencies. It also starts
// compactions, and lets admins manage keys.

import { Hyperedges } from '../../client/hyperedges.ts';
import type { Health, WalStatus } from '../../client/index.ts';
import { Failure } from '../failure.tsx';
import { bytesText, countText, numberText, secondsText } from '../format.ts';
import { useEffect, useState } from '../preact.ts';
import { Scrolling } from '../scrolling.tsx';
import { connection } from '../session.ts';
import { dataChanged } from '../state.ts';
import '../style/views.css';
import { CoursePanel, type Moment } from './course-panel.tsx';
import { KeyPanel } from './key-panel.tsx';
import { LatencyPanel } from './latency-panel.tsx';
import { type Sample, samplesOf, sampleValue } from './metrics-text.ts';

interface Look {
  readonly health: Health;
  readonly wal: WalStatus;
  readonly samples: readonly Sample[];
}

const PAUSE_MS = 5000;
const MOST_MOMENTS = 360;

export function OperationsView() {
  const [look, setLook] = useState<Look | undefined>(undefined);
  const [moments, setMoments] = useState<readonly Moment[]>([]);
  const [isFollowing, setFollowing] = useState(true);
  const [error, setError] = useState<unknown>(undefined);
  const refresh = async () => {
    try {
      const found = await lookAtService();
      setLook(found);
      setMoments((before) => [...before, momentOf(found)].slice(-MOST_MOMENTS));
      setError(undefined);
    } catch (failed) {
      setError(failed);
    }
  };
  useEffect(() => {
    void refresh();
  }, []);
  useEffect(() => {
    if (!isFollowing) return;
    const timer = setInterval(() => {
      if (!document.hidden) void refresh();
    }, PAUSE_MS);
    return () => clearInterval(timer);
  }, [isFollowing]);
  const compaction = useCompaction(refresh);
  return (
    <div class="view">
      <div class="bar">
        <button type="button" onClick={refresh}>
          Look again
        </button>
        <label class="check">
          <input
            type="checkbox"
            checked={isFollowing}
            onChange={(event) => setFollowing(event.currentTarget.checked)}
          />
          every 5 seconds
        </label>
        <a href="docs">API description</a>
      </div>
      <Failure error={error} title="The state of the service is unknown" />
      {look === undefined && error === undefined && <p class="waiting">Looking at the service ...</p>}
      {look !== undefined && (
        <>
          <Figures look={look} />
          <CoursePanel moments={moments} />
          <TableLogs wal={look.wal} {...compaction} />
          <LatencyPanel samples={look.samples} />
        </>
      )}
      <KeyPanel />
    </div>
  );
}

async function lookAtService(): Promise<Look> {
  const [health, wal, metrics] = await Promise.all([
    connection().json<Health>('getHealth'),
    connection().json<WalStatus>('getWal'),
    connection().text('getMetrics', { accept: 'text/plain' }),
  ]);
  return { health, wal, samples: samplesOf(metrics) };
}

function momentOf({ health, samples }: Look): Moment {
  const requests = samples
    .filter(({ name }) => name === 'hedgerow_http_requests_total')
    .reduce((sum, { value }) => sum + value, 0);
  const memoryBytes =
    sampleValue(samples, 'process_resident_memory_bytes') ?? health.resident_bytes + health.memtable_bytes;
  return { ts: Date.now() / 1000, requests, memoryBytes };
}

/** Returns a function that compacts one table or all of them, and the outcome of its last call. */
function useCompaction(refresh: () => Promise<void>) {
  const [note, setNote] = useState('');
  const [refusal, setRefusal] = useState<unknown>(undefined);
  const compact = async (table?: string) => {
    setNote('Compacting ...');
    setRefusal(undefined);
    try {
      const { elapsed_ms: ms, tables } = await new Hyperedges(connection()).compact(
        table === undefined ? {} : { table },
      );
      setNote(`Compacted ${tables.join(', ')} in ${secondsText(ms / 1000)}.`);
      await Promise.all([refresh(), dataChanged()]);
    } catch (failed) {
      setNote('');
      setRefusal(failed);
    }
  };
  return { note, refusal, onCompact: compact };
}

function Figures({ look: { health, wal, samples } }: { look: Look }) {
  const gauge = (name: string) => sampleValue(samples, `hedgerow_${name}`);
  const compactions = gauge('compactions_total');
  const memory = sampleValue(samples, 'process_resident_memory_bytes');
  const figures: readonly (readonly [string, string])[] = [
    ['State', health.status],
    ['Version', health.version],
    ['Up for', uptimeText(health.uptime_seconds)],
    ['Edges', numberText(health.total_records)],
    ['Nodes', numberText(health.node_count)],
    ['Durability', health.durability],
    ['Log entries waiting', numberText(wal.pending)],
    ['Log on disk', bytesText(wal.size_bytes)],
    ['Log position', numberText(wal.last_lsn)],
    ['Segments', numberText(health.segments)],
    ['Segments in memory', bytesText(health.resident_bytes)],
    ['Fresh edges in memory', bytesText(health.memtable_bytes)],
    ['Compactions', compactions === undefined ? 'unknown' : numberText(compactions)],
    ['Memory of the process', memory === undefined ? 'unknown' : bytesText(memory)],
    ['Compactions running', numberText(gauge('compactions_running') ?? 0)],
  ];
  return (
    <section class="panel" aria-label="Health">
      <h2>Health</h2>
      {health.log_failed !== null && <div class="note note-bad">Writes are refused: {health.log_failed}</div>}
      {Object.entries(health.corrupt_tables).map(([name, reason]) => (
        <div key={name} class="note note-bad">
          {name} is damaged: {reason}
        </div>
      ))}
      <dl class="figures">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function uptimeText(seconds: number): string {
  const hours = Math.floor(seconds / 3600);
  return hours > 0
    ? `${hours} h ${Math.floor((seconds % 3600) / 60)} min`
    : `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

interface LogProps {
  readonly wal: WalStatus;
  readonly note: string;
  readonly refusal: unknown;
  readonly onCompact: (table?: string) => Promise<void>;
}

function TableLogs({ wal, note, refusal, onCompact }: LogProps) {
  return (
    <section class="panel" aria-label="Write-ahead log">
      <h2>Write-ahead log</h2>
      <div class="bar">
        <button type="button" onClick={() => onCompact()}>
          Compact all tables
        </button>
        <span class="quiet" aria-live="polite">
          {note === '' ? 'Moves edges from the log into segments; needs a readwrite key.' : note}
        </span>
      </div>
      <Failure error={refusal} title="Nothing was compacted" />
      <Scrolling label="Log of each table" height="whole">
        <table class="grid">
          <thead>
            <tr>
              <th scope="col">Table</th>
              <th scope="col">Waiting for compaction</th>
              <th scope="col">Compacts by itself at</th>
              <th scope="col">
                <span class="sr-only">Compact</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(wal.tables).map(([name, { pending, threshold }]) => (
              <tr key={name}>
                <td>{name}</td>
                <td class="number">{numberText(pending)}</td>
                <td class="number">{threshold === 0 ? 'never' : countText(threshold, 'entry', 'entries')}</td>
                <td>
                  <button type="button" class="plain" disabled={pending === 0} onClick={() => onCompact(name)}>
                    Compact<span class="sr-only"> {name}</span>
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolling>
    </section>
  );
}
