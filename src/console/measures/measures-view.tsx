// The view that computes a measure of the chosen table within the chosen window of time. The user
// chooses the measure and its parameters.

import type { Measure, MeasureAnswer } from '../../client/index.ts';
import { Failure } from '../failure.tsx';
import { windowText } from '../format.ts';
import { useEffect, useRef, useState } from '../preact.ts';
import { client } from '../session.ts';
import { tableName, timeWindow } from '../state.ts';
import '../style/views.css';
import { MeasureResult } from './measure-result.tsx';
import { type FieldTexts, type ObjectSchema, ParameterForm, valuesOf } from './parameter-form.tsx';

/** Not in the form: the window of time sets the first two, and `top` is another name of `limit`. */
const ELSEWHERE = new Set(['start_ts', 'end_ts', 'top']);
/** The limit if the user sets none, because few users want to see all entries at once. */
const MOST_ENTRIES = '1000';

export function MeasuresView() {
  const [measures, setMeasures] = useState<readonly Measure[]>([]);
  const [name, setName] = useState('pagerank');
  const [texts, setTexts] = useState<FieldTexts>({});
  const [error, setError] = useState<unknown>(undefined);
  const { computed, running, failure, compute, stop } = useComputation();
  useEffect(() => {
    client().analytics.list().then(setMeasures, setError);
  }, []);
  const measure = measures.find((item) => item.measure === name);
  const schema = measure?.params as ObjectSchema | undefined;
  const isBusy = running !== undefined;
  return (
    <div class="view">
      <form
        class="panel"
        aria-label="Measure"
        onSubmit={(event) => {
          event.preventDefault();
          setError(undefined);
          void compute(name, schema ?? {}, texts);
        }}
      >
        <div class="bar">
          <MeasureChoice
            measures={measures}
            name={name}
            onChange={(chosen) => {
              setName(chosen);
              setTexts({});
            }}
          />
          <button type="submit" class="primary" disabled={isBusy || measure === undefined || tableName.value === ''}>
            {isBusy ? 'Computing ...' : 'Compute'}
          </button>
          <button type="button" disabled={!isBusy} onClick={stop}>
            Stop
          </button>
          {isBusy ? (
            <Course key={running.startedAt} {...running} />
          ) : (
            <span class="quiet">
              {tableName.value}, {windowText(timeWindow.value)}
            </span>
          )}
        </div>
        {measure !== undefined && (
          <>
            <p>{measure.about}</p>
            <p class="quiet">{measure.source}</p>
            <details open>
              <summary>Parameters</summary>
              <ParameterForm schema={schema!} texts={texts} onChange={setTexts} without={ELSEWHERE} />
            </details>
          </>
        )}
      </form>
      <WhyNot error={error ?? failure} />
      {computed !== undefined && (
        <MeasureResult
          answer={computed.answer}
          isCut={computed.isCut}
          measure={measures.find((item) => item.measure === computed.answer.measure)}
        />
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly measures: readonly Measure[];
  readonly name: string;
  readonly onChange: (name: string) => void;
}

function MeasureChoice({ measures, name, onChange }: ChoiceProps) {
  return (
    <label>
      Measure{' '}
      <select value={name} onChange={({ currentTarget: { value } }) => onChange(value)}>
        {measures.map((item) => (
          <option key={item.measure} value={item.measure}>
            {item.measure}
          </option>
        ))}
      </select>
    </label>
  );
}

function WhyNot({ error }: { error: unknown }) {
  if (!(error instanceof Stopped)) return <Failure error={error} title="The measure was not computed" />;
  return (
    <p class="note note-stopped" role="status">
      The measure was stopped.
    </p>
  );
}

/** The reason for aborting a measure that the user has stopped. */
class Stopped extends Error {}

/** The measure that is being computed. */
interface Running {
  /** Milliseconds since the page was opened. */
  readonly startedAt: number;
  readonly measure: string;
  readonly table: string;
}

interface Computed {
  readonly answer: MeasureAnswer;
  /** True if the page asked only for the first entries, and got as many as it asked for. */
  readonly isCut: boolean;
}

/** Computes one measure at a time. Leaving the view aborts it, on the server too. */
function useComputation() {
  const [computed, setComputed] = useState<Computed | undefined>(undefined);
  const [running, setRunning] = useState<Running | undefined>(undefined);
  const [failure, setFailure] = useState<unknown>(undefined);
  const leaving = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => leaving.current?.abort(new Stopped()), []);
  const compute = async (measure: string, schema: ObjectSchema, texts: FieldTexts) => {
    const own = new AbortController();
    leaving.current = own;
    const table = tableName.value;
    setFailure(undefined);
    setRunning({ startedAt: performance.now(), measure, table });
    try {
      const params = parametersOf(schema, texts);
      const answer = await client().analytics.run(table, measure, params, { timeoutMs: 0, signal: own.signal });
      setComputed({ answer, isCut: isCutAt(answer.result, params.limit, texts) });
    } catch (failed) {
      setComputed(undefined);
      setFailure(failed);
    }
    setRunning(undefined);
  };
  return { computed, running, failure, compute, stop: () => leaving.current?.abort(new Stopped()) };
}

/** Shows the elapsed time, because the service does not report how much of a measure is done. */
function Course({ startedAt, measure, table }: Running) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds(Math.floor((performance.now() - startedAt) / 1000)), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <span class="quiet course">
      <progress aria-label={`Computing ${measure} of ${table}`} /> {measure} of {table}, {seconds} s
    </span>
  );
}

/** Returns whether the result has reached the page's own limit; false if the user has set one. */
function isCutAt(result: unknown, limit: unknown, texts: FieldTexts): boolean {
  if (typeof limit !== 'number' || (texts.limit ?? '') !== '' || typeof result !== 'object' || result === null)
    return false;
  return Object.keys(result).length >= limit;
}

function parametersOf(schema: ObjectSchema, texts: FieldTexts): Record<string, unknown> {
  const window = timeWindow.value;
  // A series over time is not limited, because a limit would keep only the largest entries.
  const isCourse = schema.properties?.bucket_seconds !== undefined;
  const isCut = schema.properties?.top !== undefined && !isCourse && (texts.limit ?? '') === '';
  return {
    ...valuesOf(schema, isCut ? { ...texts, limit: MOST_ENTRIES } : texts),
    ...(window === undefined ? {} : { start_ts: window.start, end_ts: window.end }),
  };
}
