// Stores the data for the fifty questions, and checks answers.

import { expect } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { hasDataFile, readDataFile } from '../data/data-file.ts';
import { type Answerable, CALLS, PEOPLE } from './fifty-questions.ts';
import { insert } from './retrieval-world.ts';

export const MODES = ['symbolic', 'neuro', 'hybrid'] as const;
/** Whether questions about mails are possible. They need email-Enron in ../shared/data. */
export const HAS_MAILS = hasDataFile('email-Enron');

export async function fillFifty(database: Database): Promise<void> {
  const columns = [
    { name: 'minutes', type: 'INTEGER' as const },
    { name: 'topic', type: 'TEXT' as const },
  ];
  await database.createTable({ name: 'calls', columns });
  await insert(database.table('calls'), CALLS);
  await database.createTable({ name: 'calls_nodes', columns: [{ name: 'vertex', type: 'TEXT' }] });
  const named = [...PEOPLE].map(([vertex, node]) => ({ event_ts: 0, members: [node], properties: { vertex } }));
  await insert(database.table('calls_nodes'), named);
  if (!HAS_MAILS) return;
  const { times, members } = readDataFile('email-Enron');
  await database.createTable({ name: 'mails', bucketSeconds: 86_400 });
  const mails = times.map((event_ts, at) => ({ event_ts, members: [...members[at]!] }));
  await insert(database.table('mails'), mails);
}

export interface Answered {
  readonly answer: string;
  readonly abstained: boolean;
  readonly computed_by: string | null;
  /** The retrieved edges, best first. */
  readonly found: readonly { edge_id: number }[];
}

export function expectRight(right: Answerable, answered: Answered, cited: readonly number[]): void {
  expect(answered.abstained).toBe(false);
  expectSaid(right, answered.answer, cited);
  if (right.best !== undefined) expect(answered.found[0]!.edge_id).toBe(right.best);
  if (right.computed === null) expect(answered.computed_by).toBeNull();
  else expect(answered.computed_by).toContain(right.computed);
}

/** Checks the text of the answer and the edges that it cites. */
export function expectSaid(right: Answerable, answer: string, cited: readonly number[]): void {
  for (const text of right.says ?? []) expect(answer).toMatch(new RegExp(`(?<![\\w.])${text}(?![\\w])`));
  if (right.cites !== undefined) expect([...new Set(cited)].sort((a, b) => a - b)).toEqual(right.cites);
}

export const tagsIn = (text: string) => [...text.matchAll(/\[HEDGE-(\d+)\]/g)].map(([, id]) => Number(id));
