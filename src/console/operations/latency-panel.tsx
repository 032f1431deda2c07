// Shows how long requests and reads take: a bar from the median to the 99th percentile, on a
// logarithmic scale.

import { countText, numberText, secondsText } from '../format.ts';
import { useState } from '../preact.ts';
import { Scrolling } from '../scrolling.tsx';
import { type Latency, latenciesOf, type Sample } from './metrics-text.ts';

const MOST_ROUTES = 12;

/** Names on the page of the strategies by which reads find their rows. */
const STRATEGIES: ReadonlyMap<string, string> = new Map([
  ['tpi', 'reads by time'],
  ['fmi', 'reads by node'],
  ['psi', 'reads by property index'],
  ['join', 'joins'],
  ['scan', 'scans'],
]);

export function LatencyPanel({ samples }: { samples: readonly Sample[] }) {
  const reads = latenciesOf(samples, 'hedgerow_query_duration_seconds', 'strategy').map((item) => ({
    ...item,
    label: STRATEGIES.get(item.label) ?? item.label,
  }));
  const routes = latenciesOf(samples, 'hedgerow_http_request_duration_seconds', 'route').filter(
    ({ label }) => label !== 'unmatched',
  );
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? routes : routes.slice(0, MOST_ROUTES);
  const rows = [...reads, ...shown];
  const scale = scaleOf(rows);
  return (
    <section class="panel" aria-label="Latency">
      <h2>Latency</h2>
      {rows.length === 0 ? (
        <p class="quiet">Nothing has been asked yet. Run a statement, then look again.</p>
      ) : (
        <Scrolling label="Latencies" height="whole">
          <table class="grid latencies">
            <thead>
              <tr>
                <th scope="col">What</th>
                <th scope="col">Count</th>
                <th scope="col" class="span-cell">
                  {secondsText(10 ** scale.low)} to {secondsText(10 ** scale.high)}
                </th>
                <th scope="col">Half within</th>
                <th scope="col">99 of 100 within</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.label}>
                  <td>{row.label}</td>
                  <td class="number">{numberText(row.count)}</td>
                  <td class="span-cell">
                    <Span latency={row} scale={scale} />
                  </td>
                  <td class="number">{secondsText(row.p50)}</td>
                  <td class="number">{secondsText(row.p99)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scrolling>
      )}
      {routes.length > MOST_ROUTES && (
        <p class="quiet">
          {isWhole ? 'All' : `The busiest ${MOST_ROUTES} of`} {countText(routes.length, 'route')} are shown.{' '}
          <button type="button" class="plain" onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Fewer' : 'All of them'}
          </button>
        </p>
      )}
    </section>
  );
}

/** The ends of the scale, as exponents of ten (seconds). */
interface Scale {
  readonly low: number;
  readonly high: number;
}

function scaleOf(rows: readonly Latency[]): Scale {
  const low = Math.floor(Math.log10(Math.min(...rows.map(({ p50 }) => Math.max(p50, 1e-6)))));
  const high = Math.ceil(Math.log10(Math.max(...rows.map(({ p99 }) => Math.max(p99, 1e-6)))));
  return rows.length === 0 ? { low: -4, high: 0 } : { low, high: Math.max(high, low + 1) };
}

function Span({ latency: { p50, p99 }, scale: { low, high } }: { latency: Latency; scale: Scale }) {
  const at = (seconds: number) => (100 * (Math.log10(Math.max(seconds, 1e-6)) - low)) / (high - low);
  return (
    <svg class="span-line" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
      {Array.from({ length: high - low + 1 }, (_, index) => (
        <rect key={index} class="span-tick" x={Math.min(99.6, (100 * index) / (high - low))} width="0.4" height="12" />
      ))}
      <rect x={at(p50)} y="3" width={Math.max(0.8, at(p99) - at(p50))} height="6" />
    </svg>
  );
}
