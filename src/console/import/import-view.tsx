// Import of a small file through the browser: choose, look at the plan, write.

import { Failure } from '../failure.tsx';
import { bytesText, countText } from '../format.ts';
import { useMemo, useState } from '../preact.ts';
import { Grid } from '../query/result-grid.tsx';
import { Scrolling } from '../scrolling.tsx';
import { chooseTable, openView, tableName, tables } from '../state.ts';
import { guessMapping, type Mapping, newColumns, plannedEdges, readSource, type SourceFile } from './read-file.ts';
import { suggestedBucket, writeEdges } from './write-edges.ts';

/** What a browser holds with ease; `hedgerow import` takes files of any size. */
const MOST_BYTES = 64 * 2 ** 20;

export function ImportView() {
  const [source, setSource] = useState<{ name: string; file: SourceFile } | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const open = async (file: File | undefined) => {
    if (file === undefined) return;
    setSource(undefined);
    try {
      if (file.size > MOST_BYTES) {
        throw new Error(
          `${file.name} has ${bytesText(file.size)}; here it ends at ${bytesText(MOST_BYTES)}. Use hedgerow import for larger files.`,
        );
      }
      setSource({ name: file.name, file: readSource(file.name, await file.text()) });
      setError(undefined);
    } catch (failed) {
      setError(failed);
    }
  };
  return (
    <div class="view">
      <section class="panel" aria-label="File">
        <h2>Import a file</h2>
        <p class="quiet">
          NDJSON with one edge on each line, such as {'{"event_ts": 1700000000, "members": [12, 40]}'}, or CSV with a
          header. Nodes are integers; times are epoch seconds or dates. The file is read in this browser.
        </p>
        <label class="file">
          File{' '}
          <input
            type="file"
            accept=".ndjson,.jsonl,.json,.csv,.tsv,.txt"
            onChange={(event) => open(event.currentTarget.files?.[0])}
          />
        </label>
        <Failure error={error} title="The file cannot be read" />
      </section>
      {source !== undefined && <Plan key={source.name} name={source.name} file={source.file} />}
    </div>
  );
}

interface Progress {
  readonly written: number;
  readonly total: number;
  readonly isDone: boolean;
}

function Plan({ name, file }: { name: string; file: SourceFile }) {
  const [mapping, setMapping] = useState(() => guessMapping(file));
  const [target, setTarget] = useState(() => targetOf(name));
  const [progress, setProgress] = useState<Progress | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const planned = useMemo(() => plannedEdges(file, mapping), [file, mapping]);
  const bucketSeconds = useMemo(() => suggestedBucket(planned.edges), [planned]);
  const isNew = !tables.value.some((table) => table.name.toLowerCase() === target.toLowerCase());
  const write = async () => {
    const total = planned.edges.length;
    setError(undefined);
    try {
      const table = isNew
        ? { name: target, bucket_seconds: bucketSeconds, columns: newColumns(file, mapping) }
        : undefined;
      await writeEdges(planned.edges, target, table, (written) => setProgress({ written, total, isDone: false }));
      setProgress({ written: total, total, isDone: true });
      chooseTable(target);
    } catch (failed) {
      setProgress(undefined);
      setError(failed);
    }
  };
  const isBusy = progress !== undefined && !progress.isDone;
  return (
    <section class="panel" aria-label="Plan">
      <h2>{name}</h2>
      <MappingForm file={file} mapping={mapping} onChange={setMapping} />
      <Rejected rejected={planned.rejected} />
      <Scrolling label="First rows" height="short">
        <Grid columns={file.columns} rows={file.rows.slice(0, 5)} />
      </Scrolling>
      <div class="bar">
        <label>
          Into table{' '}
          <input
            type="text"
            value={target}
            spellcheck={false}
            onInput={(event) => setTarget(event.currentTarget.value)}
          />
        </label>
        <button type="button" class="primary" disabled={isBusy || planned.edges.length === 0} onClick={write}>
          Import {countText(planned.edges.length, 'edge')}
        </button>
        <span class="quiet">
          {isNew
            ? `a new table, with buckets of ${bucketSeconds} s (takes an admin key)`
            : 'an existing table: edges are added to it'}
        </span>
      </div>
      <Failure error={error} title="The import stopped" />
      {progress !== undefined && <Written progress={progress} table={target} />}
    </section>
  );
}

/** The stem of the file's name, as a table can be called. */
function targetOf(name: string): string {
  const stem = name
    .replace(/\..*$/, '')
    .replaceAll(/\W+/g, '_')
    .replace(/^(?=\d)/, '_')
    .slice(0, 64);
  return stem === '' ? tableName.value : stem;
}

function Written({ progress, table }: { progress: Progress; table: string }) {
  const { written, total, isDone } = progress;
  return (
    <div class="note note-good" role="status">
      <progress max={total} value={written} aria-label="Edges written" /> {countText(written, 'edge')} written
      {isDone && (
        <>
          {' '}
          to {table}.{' '}
          <button type="button" onClick={() => openView('query')}>
            Look at them
          </button>
        </>
      )}
    </div>
  );
}

function Rejected({ rejected }: { rejected: readonly { row: number; reason: string }[] }) {
  if (rejected.length === 0) return null;
  return (
    <details class="note note-bad">
      <summary>{countText(rejected.length, 'row')} will be left out</summary>
      <ul>
        {rejected.slice(0, 20).map(({ row, reason }) => (
          <li key={row}>
            Row {row}: {reason}.
          </li>
        ))}
      </ul>
    </details>
  );
}

interface MappingProps {
  readonly file: SourceFile;
  readonly mapping: Mapping;
  readonly onChange: (mapping: Mapping) => void;
}

function MappingForm({ file, mapping, onChange }: MappingProps) {
  const { timeColumn, memberColumns, propertyColumns } = mapping;
  const toggled = (list: readonly string[], column: string) =>
    list.includes(column) ? list.filter((item) => item !== column) : [...list, column];
  return (
    <div class="form">
      <div class="field">
        <label for="time-column">Time</label>
        <select
          id="time-column"
          value={timeColumn}
          onChange={(event) => onChange({ ...mapping, timeColumn: event.currentTarget.value })}
        >
          {file.columns.map((column) => (
            <option key={column} value={column}>
              {column}
            </option>
          ))}
        </select>
      </div>
      <ColumnChoice
        title="Members"
        columns={file.columns}
        chosen={memberColumns}
        onToggle={(column) => onChange({ ...mapping, memberColumns: toggled(memberColumns, column) })}
      />
      <ColumnChoice
        title="Properties"
        columns={file.columns.filter((column) => /^[A-Za-z_]\w{0,63}$/.test(column))}
        chosen={propertyColumns}
        onToggle={(column) => onChange({ ...mapping, propertyColumns: toggled(propertyColumns, column) })}
      />
    </div>
  );
}

interface ChoiceProps {
  readonly title: string;
  readonly columns: readonly string[];
  readonly chosen: readonly string[];
  readonly onToggle: (column: string) => void;
}

function ColumnChoice({ title, columns, chosen, onToggle }: ChoiceProps) {
  return (
    <fieldset class="field">
      <legend>{title}</legend>
      {columns.map((column) => (
        <label key={column} class="check">
          <input type="checkbox" checked={chosen.includes(column)} onChange={() => onToggle(column)} /> {column}
        </label>
      ))}
    </fieldset>
  );
}
