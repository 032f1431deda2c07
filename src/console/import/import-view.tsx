// The view that imports a small file through the browser. The user chooses a file, checks the plan,
// and starts the writing.

import { Failure } from '../failure.tsx';
import { bytesText } from '../format.ts';
import { useState } from '../preact.ts';
import '../style/import.css';
import '../style/views.css';
import { decodeFile, NotUtf8, OLD_ENCODING } from './decode-file.ts';
import { EXAMPLE, EXAMPLE_NAME } from './example.ts';
import { FilePanel } from './file-panel.tsx';
import { readSource, type SourceFile } from './read-file.ts';

/** Limit of a file's size, for the browser's memory. `hedgerow import` takes files of any size. */
const MOST_BYTES = 64 * 2 ** 20;

interface Source {
  readonly name: string;
  readonly file: SourceFile;
  /** Counts the files chosen, so that choosing the same file again makes a new plan. */
  readonly number: number;
}

export function ImportView() {
  const [source, setSource] = useState<Source | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  /** The file chosen, if it is not UTF-8 and may be read in an older encoding. */
  const [oldFile, setOldFile] = useState<File | undefined>(undefined);
  const [isOver, setOver] = useState(false);
  const take = (name: string, text: string) => {
    setSource({ name, file: readSource(name, text), number: (source?.number ?? 0) + 1 });
    setError(undefined);
    setOldFile(undefined);
  };
  const open = async (file: File | undefined, encoding?: typeof OLD_ENCODING) => {
    if (file === undefined) return;
    setSource(undefined);
    setOldFile(undefined);
    try {
      if (file.size > MOST_BYTES) throw new Error(tooLarge(file));
      take(file.name, decodeFile(new Uint8Array(await file.arrayBuffer()), encoding));
    } catch (failed) {
      setError(failed);
      if (failed instanceof NotUtf8) setOldFile(file);
    }
  };
  return (
    <div class="view">
      <section
        class={isOver ? 'panel drop-over' : 'panel'}
        aria-label="File"
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void open(event.dataTransfer?.files[0]);
        }}
      >
        <h2>Import a file</h2>
        <p class="quiet">
          CSV with a header, or NDJSON with one edge on each line, such as{' '}
          <code>{'{"event_ts": 1700000000, "members": [12, 40]}'}</code>. Nodes are numbers or names; times are epoch
          seconds or dates. Names become keys of a node table, and another file, with one node on each row, may hold the
          attributes of these nodes. The file is read in this browser, and nothing is written before you say so.
        </p>
        <div class="bar">
          <label class="file">
            File, or drop one here{' '}
            <input
              type="file"
              accept=".ndjson,.jsonl,.json,.csv,.tsv,.txt"
              onChange={(event) => open(event.currentTarget.files?.[0])}
            />
          </label>
          <button type="button" class="plain" onClick={() => take(EXAMPLE_NAME, EXAMPLE)}>
            No file at hand? Take an example
          </button>
        </div>
        <Failure error={error} title="The file cannot be read" />
        {oldFile !== undefined && (
          <button type="button" onClick={() => open(oldFile, OLD_ENCODING)}>
            Read as Windows-1252
          </button>
        )}
      </section>
      {source !== undefined && <FilePanel key={source.number} name={source.name} file={source.file} />}
    </div>
  );
}

function tooLarge({ name, size }: File): string {
  return `${name} has ${bytesText(size)}; the browser takes up to ${bytesText(MOST_BYTES)}. On the command line, hedgerow import takes files of any size, Parquet and HIF too.`;
}
