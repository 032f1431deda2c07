// The result of a measure in the form that suits it: a number, bars, a plot over time, a table.

import type { MeasureAnswer } from '../../client/index.ts';
import { Empty } from '../failure.tsx';
import { cellText, countText, numberText } from '../format.ts';
import { PlotFrame } from '../plot-frame.tsx';
import { useMemo } from '../preact.ts';
import { Scrolling } from '../scrolling.tsx';

/** So many entries of a map or list are shown, the largest first. */
const MOST_SHOWN = 40;

export function MeasureResult({ answer }: { answer: MeasureAnswer }) {
  return (
    <section class="panel" aria-label="Result of the measure">
      <h2>
        {answer.measure} of {answer.table}
      </h2>
      <p class="quiet">
        {answer.definition}
        {answer.basis === null ? '' : `, over ${answer.basis === 'distinct' ? 'distinct member sets' : 'all edges'}`}
      </p>
      <Value value={answer.result} />
      <details>
        <summary>Parameters as applied, and the answer as JSON</summary>
        <Scrolling label="Answer as JSON">
          <pre class="json">{JSON.stringify(answer, null, 1).slice(0, 200_000)}</pre>
        </Scrolling>
      </details>
    </section>
  );
}

function Value({ value }: { value: unknown }) {
  if (value === null) return <p>Undefined here: the table, or the window of it, holds too little for this measure.</p>;
  if (typeof value === 'number') return <p class="big-number">{numberText(value)}</p>;
  if (Array.isArray(value)) return <ListValue list={value} />;
  if (typeof value !== 'object') return <p>{String(value)}</p>;
  const entries = Object.entries(value);
  if (entries.length === 0)
    return <Empty title="Nothing to measure">The table, or the window of it, holds no edges.</Empty>;
  const isMap = entries.every(([name, item]) => /^-?\d+$/.test(name) && (typeof item === 'number' || item === null));
  return isMap ? <Bars entries={entries as [string, number | null][]} /> : <Fields entries={entries} />;
}

function ListValue({ list }: { list: readonly unknown[] }) {
  if (list.length === 0) return <Empty title="None">Nothing in the table, or in the window of it, is like that.</Empty>;
  if (isActivity(list)) return <Activity list={list} />;
  return (
    <>
      <p class="quiet">
        {countText(list.length, 'entry', 'entries')}
        {list.length > MOST_SHOWN && `, the first ${MOST_SHOWN} below`}
      </p>
      <ol class="entries">
        {list.slice(0, MOST_SHOWN).map((item, at) => (
          <li key={at}>{shortened(cellText(item))}</li>
        ))}
      </ol>
    </>
  );
}

type ActivityList = readonly { readonly ts: number; readonly count: number }[];

function isActivity(list: readonly unknown[]): list is ActivityList {
  const [first] = list;
  return typeof first === 'object' && first !== null && 'ts' in first && 'count' in first;
}

function Activity({ list }: { list: ActivityList }) {
  const input = useMemo(
    () => ({
      x: list.map(({ ts }) => ts),
      y: list.map(({ count }) => count),
      barWidth: 0,
      isTime: true,
      height: 220,
      yLabel: 'events',
    }),
    [list],
  );
  const most = list.reduce((top, { count }) => Math.max(top, count), 0);
  return <PlotFrame input={input} label={`Events over time: ${list.length} buckets, at most ${most} events in one.`} />;
}

/** Largest first, as bars beside their numbers. */
function Bars({ entries }: { entries: readonly [string, number | null][] }) {
  const sorted = [...entries].sort((a, b) => (b[1] ?? -Infinity) - (a[1] ?? -Infinity) || Number(a[0]) - Number(b[0]));
  const most = Math.max(...sorted.slice(0, 1).map(([, value]) => Math.abs(value ?? 0)), 1e-12);
  return (
    <>
      <p class="quiet">
        {countText(entries.length, 'value')}
        {entries.length > MOST_SHOWN && `, the ${MOST_SHOWN} largest below`}
      </p>
      <table class="bars">
        <thead class="sr-only">
          <tr>
            <th scope="col">Id</th>
            <th scope="col">Share of the largest</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, MOST_SHOWN).map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <svg class="bar-line" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                  <rect width={Math.max(0, (100 * (value ?? 0)) / most)} height="10" />
                </svg>
              </td>
              <td class="number">{value === null ? 'undefined' : numberText(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function Fields({ entries }: { entries: readonly [string, unknown][] }) {
  return (
    <dl class="fields">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'number' ? numberText(value) : shortened(cellText(value))}</dd>
        </div>
      ))}
    </dl>
  );
}

function shortened(text: string): string {
  return text.length > 400 ? `${text.slice(0, 400)} ...` : text;
}
