// Proposes a spec for a backend from its schema and some sample rows. If requested, a language
// model refines the proposal, and the proposal is stored.

import { HedgerowError } from '../../errors.ts';
import type { BackendSchema, BackendSession, BackendTable, QueryOptions } from '../backend.ts';
import { type GraphStore, graphExists } from '../graph-store.ts';
import { type BackendSpec, checkedSpec, type VirtualGraph, type VirtualSpec } from '../spec/spec.ts';
import { type Proposal, proposeSpec, type Samples, sampleStatement } from './propose.ts';
import { refinedProposal } from './refined.ts';

export interface ProposeRequest {
  /** As received, not yet checked. */
  backend: unknown;
  /** By default derived from the path or name of the backend. */
  id?: string | undefined;
  name?: string | undefined;
  save?: boolean | undefined;
  useLlm?: boolean | undefined;
  llmApiKey?: string | undefined;
}

/** A proposal as it is sent in an answer. */
export interface ProposeAnswer {
  spec: VirtualSpec | VirtualGraph;
  rationale: Proposal['rationale'];
  saved: boolean;
  /** Also false if a model was asked but the heuristic proposal was kept. */
  llm_used: boolean;
}

/** Asks a language model and returns its answer. May reject. `apiKey` comes from the request. */
export type RefineProposal = (
  prompt: { system: string; user: string },
  apiKey: string | undefined,
  signal: AbortSignal | undefined,
) => Promise<string>;

export interface ProposeOptions extends QueryOptions {
  root: string;
  refine?: RefineProposal | undefined;
}

/** Maximum number of tables that are sampled. */
const MOST_SAMPLED = 50;
/** Time limit in milliseconds for sampling one table. */
const SAMPLE_MS = 1500;

export async function propose(
  request: ProposeRequest & { backend: BackendSpec },
  session: BackendSession,
  graphs: GraphStore,
  options: ProposeOptions,
): Promise<ProposeAnswer> {
  const { backend } = request;
  const id = request.id ?? idFor(backend);
  const head = { id, name: request.name ?? id, backend };
  // If the id is already taken, this is reported without asking the backend or a model.
  if (request.save === true && graphs.has(id)) throw graphExists(id);
  const schema = await session.schema(options);
  const proposal = proposeSpec(head, schema, await samplesOf(schema, session, options));
  const heuristic = { ...proposal, spec: checkedSpec(proposal.spec, options) };
  const refined =
    request.useLlm === true && options.refine !== undefined
      ? await refinedProposal(heuristic, schema, session.dialect, {
          ask: (prompt) => options.refine!(prompt, request.llmApiKey, options.signal),
          root: options.root,
        })
      : undefined;
  const { spec, rationale } = refined ?? heuristic;
  const saved = request.save === true;
  return {
    spec: saved ? await graphs.create(spec) : spec,
    rationale,
    saved,
    llm_used: refined !== undefined,
  };
}

async function samplesOf(schema: BackendSchema, session: BackendSession, options: QueryOptions): Promise<Samples> {
  const samples = new Map<string, readonly (readonly unknown[])[]>();
  for (const table of schema.tables.slice(0, MOST_SAMPLED)) {
    if (table.columns.length === 0) continue;
    const rows = await sampleOf(table, session, options);
    if (rows !== undefined) samples.set(table.name, rows);
  }
  return samples as Samples;
}

/**
 * Returns sample rows of a table. Returns undefined if the table cannot be read, or not within the
 * time limit. The proposal then judges the table by names and types alone.
 */
async function sampleOf(
  table: BackendTable,
  session: BackendSession,
  { signal }: QueryOptions,
): Promise<readonly (readonly unknown[])[] | undefined> {
  const rows = [];
  try {
    const options = { signal, deadlineMs: SAMPLE_MS };
    for await (const batch of session.query(sampleStatement(table, session.dialect), options)) rows.push(...batch);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof HedgerowError && PASSABLE.has(error.code)) return undefined;
    throw error;
  }
  return rows;
}

const PASSABLE: ReadonlySet<string> = new Set(['timeout', 'backend_failed']);

/** Derives an id from a backend: `trips/2024-*.parquet` gives `trips_2024`. */
function idFor(backend: BackendSpec): string {
  if (backend.type === 'postgres') return backend.dsn.toLowerCase();
  const words = backend.path.replace(/\.[A-Za-z0-9]+(\.gz)?$/, '').match(/[A-Za-z0-9_]+/g) ?? [];
  return words.join('_').slice(0, 100) || 'graph';
}
