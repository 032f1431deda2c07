// Shows the result of a measure in a suitable form: a number, bars with a curve, a plot over time,
// or a table.

import type { Measure, MeasureAnswer } from '../../client/index.ts';
import { EdgeTag } from '../edge-tag.tsx';
import { Empty } from '../failure.tsx';
import { cellText, countText, numberText } from '../format.ts';
import { type NodeNames, nodeText, useNodeNames } from '../node-names.ts';
import { PlotFrame } from '../plot-frame.tsx';
import { useMemo } from '../preact.ts';
import { Scrolling } from '../scrolling.tsx';
import { tables } from '../state.ts';

/** Maximum number of entries shown of a map (the largest) or of a list (the first). */
const MOST_SHOWN = 25;
const MOST_IN_SET = 60;

/** What the ids in a result identify, and how they are shown. */
interface Meaning {
  readonly ids: 'nodes' | 'edges' | 'numbers';
  readonly names: NodeNames;
  readonly table: string;
  /** Whether the nodes of the table have keys, by which results show them. */
  readonly isNamed: boolean;
  readonly measure: string;
}

interface Props {
  readonly answer: MeasureAnswer;
  readonly measure: Measure | undefined;
  /** True if there may be more entries than the page has asked for. */
  readonly isCut: boolean;
}

export function MeasureResult({ answer, measure, isCut }: Props) {
  const names = useNodeNames(answer.table);
  const isNamed = tables.value.find(({ name }) => name === answer.table)?.nodes === 'named';
  const meaning: Meaning = {
    ids: idsOf(measure, answer),
    names,
    table: answer.table,
    isNamed,
    measure: answer.measure,
  };
  return (
    <section class="panel" aria-label="Result of the measure">
      <h2>
        {answer.measure} of {answer.table}
      </h2>
      <p class="quiet">
        {answer.definition}
        {answer.basis === null ? '' : `, over ${answer.basis === 'distinct' ? 'distinct member sets' : 'all edges'}`}
      </p>
      {isCut && (
        <p class="note">
          Only the first {countText(Object.keys(answer.result as object).length, 'entry', 'entries')} were asked for.
          Set limit for more of them.
        </p>
      )}
      <Value value={answer.result} meaning={meaning} />
      <details>
        <summary>Parameters as applied, and the answer as JSON</summary>
        <Json answer={answer} />
      </details>
    </section>
  );
}

/** Maximum number of characters shown of an answer. */
const MOST_JSON = 200_000;

function Json({ answer }: { answer: MeasureAnswer }) {
  const text = JSON.stringify(answer, null, 1);
  return (
    <>
      <Scrolling label="Answer as JSON">
        <pre class="json">{text.slice(0, MOST_JSON)}</pre>
      </Scrolling>
      {text.length > MOST_JSON && (
        <p class="quiet">
          The first {countText(MOST_JSON, 'character')} of {countText(text.length, 'character')} are shown.
        </p>
      )}
    </>
  );
}

/**
 * Returns what the ids in a measure's result identify. For s-measures, line graphs and
 * `latapy_edges`, the definition that was used determines this; for most others, the description in
 * the schema of the result.
 */
function idsOf(measure: Measure | undefined, { definition, measure: name }: MeasureAnswer): Meaning['ids'] {
  const { description = '' } = (measure?.result ?? {}) as { description?: string };
  if (name.startsWith('s_') && (definition === 'nodes' || definition === 'edges')) return definition;
  if (definition === 'line' || definition === 'latapy_edges') return 'edges';
  if (/by edge id|edge ids/i.test(description)) return 'edges';
  return /by node id|node ids/i.test(description) || measure?.measure === 'modularity' ? 'nodes' : 'numbers';
}

function Value({ value, meaning }: { value: unknown; meaning: Meaning }) {
  if (value === null) return <p>Undefined here: the table, or its window, holds too little for this measure.</p>;
  if (typeof value === 'number') return <p class="big-number">{numberText(value)}</p>;
  if (Array.isArray(value)) return <ListValue list={value} meaning={meaning} />;
  if (typeof value !== 'object') return <p>{String(value)}</p>;
  const entries = Object.entries(value);
  if (entries.length === 0) return <Empty title="Nothing to measure">The table, or its window, holds no edges.</Empty>;
  const isId = (name: string) => /^-?\d+$/.test(name) || (meaning.isNamed && meaning.ids === 'nodes');
  const isMap = entries.every(([name, item]) => isId(name) && (typeof item === 'number' || item === null));
  return isMap ? (
    <Bars entries={entries as [string, number | null][]} meaning={meaning} />
  ) : (
    <Fields entries={entries} meaning={meaning} />
  );
}

function ListValue({ list, meaning }: { list: readonly unknown[]; meaning: Meaning }) {
  if (list.length === 0) return <Empty title="None">Nothing in the table, or in its window, matches.</Empty>;
  if (isActivity(list)) return <Activity list={list} />;
  const shown = list.slice(0, MOST_SHOWN);
  return (
    <>
      <p class="quiet">
        {countText(list.length, 'entry', 'entries')}
        {list.length > MOST_SHOWN && `, the first ${MOST_SHOWN} below`}
      </p>
      {isPairs(list, meaning) ? (
        <Pairs pairs={shown as readonly Pair[]} meaning={meaning} />
      ) : (
        <ol class="entries">
          {shown.map((item, at) => (
            <li key={at}>
              {Array.isArray(item) ? <IdSet ids={item} meaning={meaning} /> : <Id id={item} meaning={meaning} />}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

/** Measures whose results are pairs with a number, whatever the ids. */
const PAIRED: ReadonlySet<string> = new Set(['s_adjacency', 's_distance']);

type Pair = readonly [number | string, number | string, number];

/**
 * Returns whether each entry is a pair of ids, the smaller one first, with a number, or a pair of
 * keys.
 */
function isPairs(list: readonly unknown[], { isNamed, ids, measure }: Meaning): boolean {
  return list.every((item) => {
    if (isNamed && ids === 'nodes') return Array.isArray(item) && PAIRED.has(measure);
    if (!Array.isArray(item) || item.length !== 3 || !item.every((part) => typeof part === 'number')) return false;
    const [one, other] = item as unknown as Pair;
    return one < other;
  });
}

function Pairs({ pairs, meaning }: { pairs: readonly Pair[]; meaning: Meaning }) {
  return (
    <Scrolling label="Pairs" height="whole">
      <table class="grid">
        <thead>
          <tr>
            <th scope="col">One</th>
            <th scope="col">Other</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {pairs.map(([one, other, value]) => (
            <tr key={`${one} ${other}`}>
              <td>
                <Id id={one} meaning={meaning} />
              </td>
              <td>
                <Id id={other} meaning={meaning} />
              </td>
              <td class="number">{numberText(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}

function Id({ id, meaning: { ids, names, table, isNamed } }: { id: unknown; meaning: Meaning }) {
  if (typeof id !== 'number' || (isNamed && ids === 'nodes')) return <>{shortened(cellText(id))}</>;
  if (ids === 'edges') return <EdgeTag table={table} id={id} />;
  return <>{ids === 'nodes' ? nodeText(names, id) : String(id)}</>;
}

function IdSet({ ids, meaning }: { ids: readonly unknown[]; meaning: Meaning }) {
  const text = (id: unknown) =>
    typeof id === 'number' && meaning.ids === 'nodes' && !meaning.isNamed ? nodeText(meaning.names, id) : cellText(id);
  return (
    <>
      <span class="quiet">{ids.length}:</span> {ids.slice(0, MOST_IN_SET).map(text).join(', ')}
      {ids.length > MOST_IN_SET && <span class="quiet"> and {ids.length - MOST_IN_SET} more</span>}
    </>
  );
}

type ActivityList = readonly { readonly ts: number; readonly count: number }[];

function isActivity(list: readonly unknown[]): list is ActivityList {
  const [first] = list;
  return typeof first === 'object' && first !== null && 'ts' in first && 'count' in first;
}

/** More bars than this would be thinner than a pixel. */
const MOST_BARS = 500;

function Activity({ list }: { list: ActivityList }) {
  const input = useMemo(() => {
    // With a limit the answer is sorted by count.
    const byTime = [...list].sort((a, b) => a.ts - b.ts);
    return {
      x: byTime.map(({ ts }) => ts),
      y: byTime.map(({ count }) => count),
      barWidth: byTime.length > MOST_BARS ? 0 : leastGap(byTime.map(({ ts }) => ts)),
      isTime: true,
      height: 220,
      yLabel: 'events',
    };
  }, [list]);
  const most = list.reduce((top, { count }) => Math.max(top, count), 0);
  return (
    <>
      <p class="quiet">
        {countText(list.length, 'bucket')} with events, at most {countText(most, 'event')} in one
      </p>
      <PlotFrame input={input} label={`Events over time: ${list.length} buckets, at most ${most} events in one.`} />
    </>
  );
}

/** Returns the smallest gap between two times, the best guess of a bucket's width. */
function leastGap(times: readonly number[]): number {
  return times.slice(1).reduce((least, ts, at) => Math.min(least, ts - times[at]!), times.length > 1 ? Infinity : 1);
}

/** Shows the largest values as bars, and also all values as a curve if not all have a bar. */
function Bars({ entries, meaning }: { entries: readonly [string, number | null][]; meaning: Meaning }) {
  const sorted = [...entries].sort(
    (a, b) => (b[1] ?? -Infinity) - (a[1] ?? -Infinity) || (meaning.isNamed ? 0 : Number(a[0]) - Number(b[0])),
  );
  const most = Math.max(...sorted.slice(0, 1).map(([, value]) => Math.abs(value ?? 0)), 1e-12);
  return (
    <>
      <p class="quiet">
        {countText(entries.length, 'value')}
        {entries.length > MOST_SHOWN && `, the ${MOST_SHOWN} largest below`}
      </p>
      {entries.length > MOST_SHOWN && <Curve values={sorted.flatMap(([, value]) => value ?? [])} />}
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
              <th scope="row">
                <Id id={meaning.isNamed && meaning.ids === 'nodes' ? name : Number(name)} meaning={meaning} />
              </th>
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

/** Draws all values by rank, which makes outliers visible. */
function Curve({ values }: { values: readonly number[] }) {
  const input = useMemo(
    () => ({
      x: values.map((_, at) => at + 1),
      y: values,
      barWidth: values.length <= 400 ? 1 : 0,
      isTime: false,
      height: 150,
      yLabel: 'value',
    }),
    [values.length, values[0], values.at(-1)],
  );
  return (
    <figure class="curve">
      <PlotFrame
        input={input}
        label={`All ${values.length} values from the largest, ${numberText(values[0] ?? 0)}, to the least, ${numberText(values.at(-1) ?? 0)}.`}
      />
      <figcaption class="quiet">All values by rank, the largest first</figcaption>
    </figure>
  );
}

/** Shows the plain fields of an object, then each map or list under a heading of its own. */
function Fields({ entries, meaning }: { entries: readonly [string, unknown][]; meaning: Meaning }) {
  const isNested = (value: unknown) => typeof value === 'object' && value !== null;
  const plain = entries.filter(([, value]) => !isNested(value));
  return (
    <>
      <dl class="figures">
        {plain.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === 'number' ? numberText(value) : shortened(cellText(value))}</dd>
          </div>
        ))}
      </dl>
      {entries
        .filter(([, value]) => isNested(value))
        .map(([name, value]) => (
          <section key={name} aria-label={name}>
            <h3>{name}</h3>
            <Value value={value} meaning={meaning} />
          </section>
        ))}
    </>
  );
}

function shortened(text: string): string {
  return text.length > 400 ? `${text.slice(0, 400)} ...` : text;
}
