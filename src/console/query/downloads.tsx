// The buttons that save a result as a file, and the progress of the file being written.

import { countText } from '../format.ts';
import { useEffect, useRef, useState } from '../preact.ts';
import { isMatch } from '../statement-words.ts';
import type { FileFormat } from './download.ts';
import type { Result } from './run-statement.ts';

const FORMATS: readonly (readonly [FileFormat, string])[] = [
  ['ndjson', 'NDJSON'],
  ['csv', 'CSV'],
  ['parquet', 'Parquet'],
];

export function Downloads({ result, onError }: { result: Result; onError: (error: unknown) => void }) {
  const [note, setNote] = useState('');
  const [leaving, setLeaving] = useState<AbortController | undefined>(undefined);
  const last = useRef<AbortController | undefined>(undefined);
  useEffect(() => {
    setNote('');
    return () => last.current?.abort();
  }, [result.startedAt]);
  const attempt = async (work: (signal: AbortSignal) => Promise<string>) => {
    const own = new AbortController();
    last.current = own;
    setLeaving(own);
    setNote('Writing ...');
    try {
      setNote(await work(own.signal));
      onError(undefined);
    } catch (error) {
      setNote(own.signal.aborted ? 'No file was written' : '');
      if (!own.signal.aborted) onError(error);
    } finally {
      setLeaving(undefined);
    }
  };
  const download = (format: FileFormat) =>
    attempt(async (signal) => {
      const { downloadResult } = await import('./download.ts');
      const onRows = (count: number) => setNote(`${countText(count, 'row')} ...`);
      return `${countText(await downloadResult(result, format, { signal, onRows }), 'row')} written`;
    });
  const parquet = () =>
    attempt(async (signal) => {
      const name = `console-${Math.floor(Date.now() / 1000)}.parquet`;
      const { copyToParquet } = await import('./download.ts');
      await copyToParquet(result, name, signal);
      return `Written on the server as ${name}`;
    });
  const isBusy = leaving !== undefined;
  return (
    <div class="downloads">
      <span class="quiet" aria-live="polite">
        {note}
      </span>
      {isBusy && (
        <button type="button" class="plain" onClick={() => leaving.abort()}>
          Stop<span class="sr-only"> writing the file</span>
        </button>
      )}
      {FORMATS.map(([format, title]) => (
        <button key={format} type="button" class="plain" disabled={isBusy} onClick={() => download(format)}>
          {title}
        </button>
      ))}
      {isMatch(result.statement) && (
        <button
          type="button"
          class="plain"
          disabled={isBusy}
          title="Written by the server below HEDGEROW_COPY_ROOT (COPY ... TO), for results too large for a browser; needs an admin key."
          onClick={parquet}
        >
          Parquet on the server
        </button>
      )}
    </div>
  );
}
