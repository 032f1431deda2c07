// Shows the plan of a statement as a tree of operators, with their actual rows and times if it ran.

import { numberText, secondsText } from '../format.ts';
import type { PlanNode, PlanRow } from './plan.ts';

/** Fields that the tree shows in its own way, not among the details of an operator. */
const SHOWN_APART: ReadonlySet<string> = new Set([
  'operator',
  'children',
  'estimated_rows',
  'actual_rows',
  'elapsed_us',
]);

export function PlanTree({ row }: { row: PlanRow }) {
  const total = row.plan.elapsed_us;
  return (
    <div class="plan">
      <dl class="figures">
        {row.strategy !== null && (
          <>
            <Figure name="Strategy" value={row.strategy} />
            <Figure name="Index" value={row.index_type} />
            <Figure
              name="Buckets read"
              value={`${numberText(row.buckets_scanned)} of ${numberText(row.total_buckets)}`}
            />
          </>
        )}
        <Figure name="Rows expected" value={numberText(row.estimated_rows)} />
        {row.actual_rows !== undefined && <Figure name="Rows found" value={numberText(row.actual_rows)} />}
        {row.elapsed_us !== undefined && <Figure name="Time" value={secondsText(row.elapsed_us / 1e6)} />}
      </dl>
      <ul class="tree" aria-label="Operators">
        <Operator node={row.plan} totalUs={typeof total === 'number' ? total : 0} />
      </ul>
    </div>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Operator({ node, totalUs }: { node: PlanNode; totalUs: number }) {
  const details = Object.entries(node).filter(([name, value]) => !SHOWN_APART.has(name) && value !== null);
  const { estimated_rows: estimated, actual_rows: rows, elapsed_us: elapsed } = node as Record<string, unknown>;
  return (
    <li>
      <span class="operator">{node.operator}</span>
      {typeof estimated === 'number' && <span class="quiet"> expects {numberText(estimated)} rows</span>}
      {typeof rows === 'number' && <span> found {numberText(rows)}</span>}
      {typeof elapsed === 'number' && (
        <span>
          {' '}
          in {secondsText(elapsed / 1e6)}
          <meter
            min={0}
            max={Math.max(1, totalUs)}
            value={elapsed}
            aria-label={`Share of the time of ${node.operator}`}
          />
        </span>
      )}
      {details.length > 0 && (
        <div class="operator-details">
          {details.map(([name, value]) => (
            <span key={name}>
              <span class="quiet">{name}</span> {detailText(value)}
            </span>
          ))}
        </div>
      )}
      {node.children !== undefined && (
        <ul>
          {node.children.map((child, at) => (
            <Operator key={at} node={child} totalUs={totalUs} />
          ))}
        </ul>
      )}
    </li>
  );
}

function detailText(value: unknown): string {
  return Array.isArray(value) ? value.map(String).join(', ') : String(value);
}
