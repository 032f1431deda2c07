// The view for virtual graphs: hypergraphs over files and databases that stay where they are. The
// user can propose a specification, edit, store and query it.

import { ConfirmButton } from '../confirm-button.tsx';
import { Failure } from '../failure.tsx';
import { useEffect, useState } from '../preact.ts';
import '../style/views.css';
import { type Backends, type GraphList, virtualGraphs } from './calls.ts';
import { GraphQuery } from './graph-query.tsx';

export function VirtualView() {
  const [graphs, setGraphs] = useState<GraphList>([]);
  const [backends, setBackends] = useState<Backends>([]);
  const [error, setError] = useState<unknown>(undefined);
  const [spec, setSpec] = useState('');
  const [notes, setNotes] = useState<readonly string[]>([]);
  const [chosen, setChosen] = useState('');
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
      setError(undefined);
    } catch (failed) {
      setError(failed);
    }
  };
  const load = () => attempt(async () => setGraphs(await virtualGraphs.list()));
  useEffect(() => {
    void attempt(async () => {
      setBackends(await virtualGraphs.backends());
      setGraphs(await virtualGraphs.list());
    });
  }, []);
  const edit = (id: string) =>
    attempt(async () => {
      setSpec(JSON.stringify(await virtualGraphs.get(id), null, 2));
      setNotes([]);
      setChosen(id);
    });
  const remove = (id: string) =>
    attempt(async () => {
      await virtualGraphs.remove(id);
      setChosen((current) => (current === id ? '' : current));
      await load();
    });
  const store = () =>
    attempt(async () => {
      const id = await storeSpec(spec, graphs);
      setNotes([`${id} is stored.`]);
      setChosen(id);
      await load();
    });
  const shown = graphs.find(({ id }) => id === chosen);
  return (
    <div class="view">
      <Failure error={error} />
      <section class="panel" aria-label="Virtual graphs">
        <h2>Virtual graphs</h2>
        <p class="quiet">
          Files and databases that stay where they are, queried as hypergraphs. Files are below the folder set by
          HEDGEROW_VIRTUAL_ROOT; databases are named by HEDGEROW_VIRTUAL_DSN_ variables.
        </p>
        <GraphEntries graphs={graphs} onOpen={edit} onRemove={remove} />
        <ProposeForm
          backends={backends}
          onPropose={(backend, id) =>
            attempt(async () => {
              const proposal = await virtualGraphs.propose(backend, id);
              setSpec(JSON.stringify(proposal.spec, null, 2));
              setNotes(proposal.rationale.map(({ edge, reason }) => `${edge}: ${reason}`));
            })
          }
        />
      </section>
      {spec !== '' && <SpecEditor spec={spec} notes={notes} onChange={setSpec} onStore={store} />}
      {shown !== undefined && (
        <GraphQuery key={`${shown.id} ${shown.spec_version}`} id={shown.id} label={shown.edge_labels[0] ?? 'Edge'} />
      )}
    </div>
  );
}

interface EntriesProps {
  readonly graphs: GraphList;
  readonly onOpen: (id: string) => Promise<void>;
  readonly onRemove: (id: string) => Promise<void>;
}

function GraphEntries({ graphs, onOpen, onRemove }: EntriesProps) {
  if (graphs.length === 0) return <p>None yet. Propose one from a file or a database below, and adjust it.</p>;
  return (
    <ul class="plain-list">
      {graphs.map((graph) => (
        <li key={graph.id} class="graph-entry">
          <strong>{graph.name}</strong>{' '}
          <span class="quiet">
            {graph.backend_type}, {graph.edge_labels.join(', ')}, version {graph.spec_version}
          </span>{' '}
          <button type="button" class="plain" onClick={() => onOpen(graph.id)}>
            Open
            <span class="sr-only"> {graph.id}</span>
          </button>
          <ConfirmButton label="Delete" what={graph.id} onConfirm={() => void onRemove(graph.id)} />
        </li>
      ))}
    </ul>
  );
}

interface SpecProps {
  readonly spec: string;
  readonly notes: readonly string[];
  readonly onChange: (spec: string) => void;
  readonly onStore: () => Promise<void>;
}

function SpecEditor({ spec, notes, onChange, onStore }: SpecProps) {
  return (
    <section class="panel" aria-label="Specification">
      <h2>Specification</h2>
      <ul aria-live="polite" class="quiet notes">
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
      <label for="spec-text">Adjust what you like, then store it</label>
      <textarea
        id="spec-text"
        class="code"
        rows={16}
        spellcheck={false}
        value={spec}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <button type="button" class="primary" onClick={onStore}>
        Store specification
      </button>
    </section>
  );
}

/** Stores a specification, and replaces the one with the same id if there is one. */
async function storeSpec(text: string, graphs: GraphList): Promise<string> {
  let spec: { id?: unknown };
  try {
    spec = JSON.parse(text) as { id?: unknown };
  } catch (error) {
    throw new Error(`A specification must be JSON: ${(error as Error).message}`);
  }
  const isKnown = typeof spec.id === 'string' && graphs.some(({ id }) => id === spec.id);
  const stored = isKnown ? await virtualGraphs.replace(String(spec.id), spec) : await virtualGraphs.create(spec);
  return stored.id;
}

interface ProposeProps {
  readonly backends: Backends;
  readonly onPropose: (backend: Record<string, string>, id: string) => Promise<void>;
}

function ProposeForm({ backends, onPropose }: ProposeProps) {
  const [type, setType] = useState('csv');
  const [source, setSource] = useState('');
  const isDatabase = type === 'postgres';
  const submit = (event: Event) => {
    event.preventDefault();
    const id = source.replace(/^.*\//, '').replace(/\..*$/, '').replaceAll(/\W+/g, '_') || 'graph';
    void onPropose({ type, [isDatabase ? 'dsn' : 'path']: source }, id);
  };
  return (
    <form class="bar" onSubmit={submit}>
      <label>
        Kind{' '}
        <select value={type} onChange={(event) => setType(event.currentTarget.value)}>
          {backends.map((backend) => (
            <option key={backend.type} value={backend.type} disabled={!backend.available}>
              {backend.type}
              {backend.available ? '' : ' (not installed)'}
            </option>
          ))}
        </select>
      </label>
      <label class="grow">
        {isDatabase ? 'Name after HEDGEROW_VIRTUAL_DSN_' : 'File or pattern of files'}
        <input
          type="text"
          value={source}
          spellcheck={false}
          placeholder={isDatabase ? 'MAIN' : 'trips.csv'}
          onInput={(event) => setSource(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary" disabled={source.trim() === ''}>
        Propose
      </button>
    </form>
  );
}
