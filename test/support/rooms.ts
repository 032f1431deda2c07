// Creates the services of a test server: statements, analytics, reasoning and virtual graphs.

import type { Analytics } from '../../src/analytics/index.ts';
import type { Database } from '../../src/engine/index.ts';
import { Memory } from '../../src/memory/index.ts';
import { Reasoning } from '../../src/rag/index.ts';
import type { Rooms } from '../../src/routes/index.ts';
import { type RefineProposal, VirtualGraphs } from '../../src/virtual/index.ts';
import { analyticsOf } from './analytics.ts';
import { statementsOf } from './statements.ts';

/** Options of the services. By default, nothing listens at the address of the language model. */
export interface RoomOptions {
  copyRoot?: string | undefined;
  modelBaseUrl?: string | undefined;
  modelKey?: string | undefined;
  modelHosts?: readonly string[] | undefined;
  virtualRoot?: string | undefined;
  virtualCache?: boolean | undefined;
  dsns?: Readonly<Record<string, string>> | undefined;
  refine?: RefineProposal | undefined;
  /** Returns whether a package is installed. */
  installed?: ((name: string) => boolean) | undefined;
}

export function roomsOf(database: Database, options: RoomOptions = {}): Required<Rooms> {
  const analytics = analyticsOf(database);
  return {
    statements: statementsOf(database, options.copyRoot),
    analytics,
    reasoning: reasoningOf(database, options, analytics),
    memory: new Memory({ database, now: () => NOW_MS }),
    virtual: virtualOf(database, options),
  };
}

export function virtualOf(database: Database, options: RoomOptions = {}): VirtualGraphs {
  return new VirtualGraphs({
    database,
    documents: database.documents,
    root: options.virtualRoot ?? '/nonexistent/virtual',
    dsns: options.dsns ?? {},
    cache: options.virtualCache ?? true,
    monotonicMs: () => performance.now(),
    refine: options.refine,
    installed: options.installed,
  });
}

let lastId = 0;
/** The time that questions and memories take for the present, in epoch milliseconds. */
export const NOW_MS = Date.UTC(2026, 10, 22);

export function reasoningOf(database: Database, options: RoomOptions = {}, analytics?: Analytics): Reasoning {
  return new Reasoning({
    database,
    model: {
      baseUrl: options.modelBaseUrl ?? 'http://127.0.0.1:9/v1',
      model: 'test-model',
      apiKey: options.modelKey,
      allowedHosts: options.modelHosts ?? ['127.0.0.1'],
    },
    now: () => NOW_MS,
    monotonicMs: () => performance.now(),
    newId: () => `interaction-${++lastId}`,
    measure: analytics && ((table, measure, params, options) => analytics.run(table, measure, params, options)),
  });
}
