// Creates the parts of the service that answer requests about a database.

import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { Analytics } from '../analytics/index.ts';
import type { Config } from '../config.ts';
import type { Database } from '../engine/index.ts';
import { createChatModel } from '../llm/index.ts';
import { Memory } from '../memory/index.ts';
import { type SessionHooks, Statements } from '../query/index.ts';
import { Reasoning } from '../rag/index.ts';
import type { Rooms } from '../routes/index.ts';
import { nodeFs } from '../storage/index.ts';
import { type RefineProposal, VirtualGraphs } from '../virtual/index.ts';

/**
 * Creates the parts that answer requests about a database. Their work is run by the database's
 * scheduler.
 */
export function roomsOf(config: Config, database: Database, sessions: SessionHooks = {}): Rooms {
  const analytics = new Analytics({ database });
  return {
    statements: statementsOf(config, database, sessions),
    analytics,
    reasoning: reasoningOf(config, database, analytics),
    memory: new Memory({ database, now: () => Date.now() }),
    virtual: virtualOf(config, database),
  };
}

function statementsOf(config: Config, database: Database, sessions: SessionHooks): Statements {
  return new Statements({
    ...sessions,
    database,
    now: () => Date.now(),
    nowUs: () => performance.now() * 1000,
    newId: () => randomBytes(12).toString('base64url'),
    transactionIdleSeconds: config.transactionIdleSeconds,
    copyRoot: config.copyRoot === undefined ? undefined : resolve(config.copyRoot),
    fs: nodeFs,
  });
}

function reasoningOf(config: Config, database: Database, analytics: Analytics): Reasoning {
  const { llmBaseUrl, llmModel, openaiApiKey, llmAllowedHosts } = config;
  return new Reasoning({
    database,
    model: { baseUrl: llmBaseUrl, model: llmModel, apiKey: openaiApiKey, allowedHosts: llmAllowedHosts },
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    newId: () => randomBytes(12).toString('base64url'),
    measure: (table, measure, params, options) => analytics.run(table, measure, params, options),
  });
}

function virtualOf(config: Config, database: Database): VirtualGraphs {
  return new VirtualGraphs({
    database,
    documents: database.documents,
    root: resolve(config.virtualRoot),
    dsns: config.virtualDsn,
    cache: config.virtualCache,
    monotonicMs: () => performance.now(),
    refine: refinerOf(config),
  });
}

/**
 * Returns the function that has the configured language model refine a proposal. A key in the
 * request takes precedence over the server's key.
 */
export function refinerOf(config: Config): RefineProposal {
  const { llmBaseUrl: baseUrl, llmModel: model, openaiApiKey, llmAllowedHosts: allowedHosts } = config;
  return async (prompt, apiKey, signal) => {
    const chat = createChatModel({ baseUrl, model, apiKey: apiKey ?? openaiApiKey, allowedHosts });
    return (await chat.complete(prompt, signal)).text;
  };
}
