// Measures of the chosen table within the window of time: choose one, set its parameters, see its result.

import type { Measure, MeasureAnswer } from '../../client/index.ts';
import { Failure } from '../failure.tsx';
import { windowText } from '../format.ts';
import { useEffect, useState } from '../preact.ts';
import { client } from '../session.ts';
import { tableName, timeWindow } from '../state.ts';
import '../style/views.css';
import { MeasureResult } from './measure-result.tsx';
import { type FieldTexts, type ObjectSchema, ParameterForm, valuesOf } from './parameter-form.tsx';

/** The window of time above says the first two, and `top` is another name of `limit`. */
const ELSEWHERE = new Set(['start_ts', 'end_ts', 'top']);
/** All at once is seldom what one wants to look at. */
const MOST_ENTRIES = '1000';

export function MeasuresView() {
  const [measures, setMeasures] = useState<readonly Measure[]>([]);
  const [name, setName] = useState('pagerank');
  const [texts, setTexts] = useState<FieldTexts>({});
  const [answer, setAnswer] = useState<MeasureAnswer | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    client().analytics.list().then(setMeasures, setError);
  }, []);
  const measure = measures.find((item) => item.measure === name);
  const schema = measure?.params as ObjectSchema | undefined;
  const run = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      setAnswer(await client().analytics.run(tableName.value, name, parametersOf(schema ?? {}, texts)));
      setError(undefined);
    } catch (failed) {
      setAnswer(undefined);
      setError(failed);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="view">
      <form class="panel" onSubmit={run} aria-label="Measure">
        <div class="bar">
          <label>
            Measure{' '}
            <select
              value={name}
              onChange={({ currentTarget: { value } }) => {
                setName(value);
                setTexts({});
              }}
            >
              {measures.map((item) => (
                <option key={item.measure} value={item.measure}>
                  {item.measure}
                </option>
              ))}
            </select>
          </label>
          <button type="submit" class="primary" disabled={isBusy || measure === undefined || tableName.value === ''}>
            {isBusy ? 'Computing ...' : 'Compute'}
          </button>
          <span class="quiet">
            {tableName.value}, {windowText(timeWindow.value)}
          </span>
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
      <Failure error={error} title="The measure was not computed" />
      {answer !== undefined && (
        <MeasureResult answer={answer} measure={measures.find((item) => item.measure === answer.measure)} />
      )}
    </div>
  );
}

function parametersOf(schema: ObjectSchema, texts: FieldTexts): Record<string, unknown> {
  const window = timeWindow.value;
  // Of a course over time the largest alone would be no course.
  const isCourse = schema.properties?.bucket_seconds !== undefined;
  const isCut = schema.properties?.top !== undefined && !isCourse && (texts.limit ?? '') === '';
  return {
    ...valuesOf(schema, isCut ? { ...texts, limit: MOST_ENTRIES } : texts),
    ...(window === undefined ? {} : { start_ts: window.start, end_ts: window.end }),
  };
}
