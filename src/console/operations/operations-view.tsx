// How the service is doing: health, log, memory, latencies; and compaction.

import type { Health, WalStatus } from '../../client/index.ts';
import { Failure } from '../failure.tsx';
import { bytesText, countText, numberText, secondsText } from '../format.ts';
import { useEffect, useState } from '../preact.ts';
import { Scrolling } from '../scrolling.tsx';
import { client } from '../session.ts';
import { dataChanged } from '../state.ts';
import { latenciesOf, type Sample, samplesOf, sampleValue } from './metrics-text.ts';

interface Look {
  readonly health: Health;
  readonly wal: WalStatus;
  readonly samples: readonly Sample[];
}

export function OperationsView() {
  const [look, setLook] = useState<Look | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [note, setNote] = useState('');
  const refresh = async () => {
    try {
      const [health, wal, metrics] = await Promise.all([
        client().service.health(),
        client().wal.status(),
        client().service.metrics(),
      ]);
      setLook({ health, wal, samples: samplesOf(metrics) });
      setError(undefined);
    } catch (failed) {
      setError(failed);
    }
  };
  useEffect(() => {
    void refresh();
  }, []);
  const compact = async () => {
    setNote('Compacting ...');
    try {
      const { elapsed_ms: ms, tables } = await client().hyperedges.compact();
      setNote(`Compacted ${tables.join(', ')} in ${secondsText(ms / 1000)}.`);
      await Promise.all([refresh(), dataChanged()]);
    } catch (failed) {
      setNote('');
      setError(failed);
    }
  };
  return (
    <div class="view">
      <div class="bar">
        <button type="button" onClick={refresh}>
          Look again
        </button>
        <button type="button" onClick={compact}>
          Compact all tables
        </button>
        <a href="docs">API description</a>
        <span class="quiet" aria-live="polite">
          {note}
        </span>
      </div>
      <Failure error={error} title="The service does not tell how it is" />
      {look !== undefined && <Figures look={look} />}
      {look !== undefined && <TableLogs wal={look.wal} />}
      {look !== undefined && <Latencies samples={look.samples} />}
    </div>
  );
}

function Figures({ look: { health, wal, samples } }: { look: Look }) {
  const gauge = (name: string) => sampleValue(samples, `hedgerow_${name}`);
  const compactions = gauge('compactions_total');
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
    ['Compactions', compactions === undefined ? 'not told' : numberText(compactions)],
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

function TableLogs({ wal }: { wal: WalStatus }) {
  return (
    <section class="panel" aria-label="Write-ahead log">
      <h2>Write-ahead log</h2>
      <Scrolling label="Log of each table" height="whole">
        <table class="grid">
          <thead>
            <tr>
              <th scope="col">Table</th>
              <th scope="col">Waiting for compaction</th>
              <th scope="col">Compacts by itself at</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(wal.tables).map(([name, { pending, threshold }]) => (
              <tr key={name}>
                <td>{name}</td>
                <td class="number">{numberText(pending)}</td>
                <td class="number">{threshold === 0 ? 'never' : countText(threshold, 'entry', 'entries')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolling>
    </section>
  );
}

const MOST_ROUTES = 12;

function Latencies({ samples }: { samples: readonly Sample[] }) {
  const reads = latenciesOf(samples, 'hedgerow_query_duration_seconds', 'strategy').map((item) => ({
    ...item,
    kind: 'reads',
  }));
  const routes = latenciesOf(samples, 'hedgerow_http_request_duration_seconds', 'route').map((item) => ({
    ...item,
    kind: 'route',
  }));
  const rows = [...reads, ...routes.slice(0, MOST_ROUTES)];
  return (
    <section class="panel" aria-label="Latency">
      <h2>Latency</h2>
      {rows.length === 0 ? (
        <p class="quiet">Nothing has been asked yet. Run a statement, then look again.</p>
      ) : (
        <Scrolling label="Latencies" height="whole">
          <table class="grid">
            <thead>
              <tr>
                <th scope="col">What</th>
                <th scope="col">Count</th>
                <th scope="col">Half within</th>
                <th scope="col">99 of 100 within</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ kind, label, count, p50, p99 }) => (
                <tr key={`${kind} ${label}`}>
                  <td>
                    <span class="quiet">{kind}</span> {label}
                  </td>
                  <td class="number">{numberText(count)}</td>
                  <td class="number">{secondsText(p50)}</td>
                  <td class="number">{secondsText(p99)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scrolling>
      )}
    </section>
  );
}
