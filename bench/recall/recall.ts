// How many of the turns that answer a question are among the first 5, 10 and 20 that memory
// recalls, beside BM25 over the turns alone.
//
// Each turn is one memory: said by its speaker, about its session. HEDGEROW_LOCOMO names a file in
// the format of LoCoMo; without it, conversations that were written for this bench are used.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, openDatabase } from 'hedgerow';
import { Memory } from '../../dist/memory/index.js';
import { EmbeddedStatements } from '../../dist/query/embedded.js';
import { finish } from '../../dist/schedule/steps.js';
import { median } from '../measure.ts';
import type { PartOptions } from '../part.ts';
import { type BenchRow, benchRow, type Target } from '../row.ts';
import { type Conversation, KIND_NAMES, type Kind, type Question, readConversations } from './conversations.ts';

const TALKS = join(import.meta.dirname, 'talks');
const DEPTHS = [5, 10, 20] as const;
type Depth = (typeof DEPTHS)[number];
const MOST = 20;
/** What is asked of the file of LoCoMo: percent among the first ten. */
const TARGETS: { readonly [kind in Kind | 'all']?: number } = { all: 75, 'multi-hop': 50 };
/**
 * How many times BM25 is asked for at the other depths, and of other conversations. On LoCoMo BM25
 * finds 68 % among the first twenty, so that 1.5 times as many are more than there are.
 */
const TIMES = { locomo: 1.1, others: 1.5 } as const;

/** Finds turns for a question, best first. */
type Finder = (question: string) => Promise<string[]>;

export async function runRecall({ tiny, workspace, note }: PartOptions): Promise<BenchRow[]> {
  const file = process.env.HEDGEROW_LOCOMO;
  const files = file === undefined ? readdirSync(TALKS).map((name) => join(TALKS, name)) : [file];
  if (file === undefined)
    note('recall: HEDGEROW_LOCOMO names no file with LoCoMo; conversations written for this bench are used instead');
  const conversations = files.flatMap(readConversations).slice(0, tiny ? 1 : undefined);
  const dir = workspace.fresh('recall');
  const database = await openDatabase({ dir });
  try {
    const memory = new Memory({ database, now: Date.now });
    const ours = new Shares();
    const peer = new Shares();
    const times: number[] = [];
    for (const [place, conversation] of conversations.entries()) {
      const find = await remembered(memory, conversation, `talk_${place}`);
      const findByWords = await plain(database, conversation, `plain_${place}`);
      await database.compact({});
      for (const question of conversation.questions) {
        const start = performance.now();
        ours.add(question, await find(question.text));
        times.push(performance.now() - start);
        peer.add(question, await findByWords(question.text));
      }
    }
    const turns = conversations.reduce((sum, one) => sum + one.turns.length, 0);
    note(`recall: ${conversations.length} conversations, ${turns} turns, ${ours.count('all')} questions with evidence`);
    const bytes = conversations
      .flatMap((_, place) => database.table(`talk_${place}`).version.segments)
      .reduce((sum, { facts }) => sum + facts.bytes, 0);
    return [
      ...rowsOf(ours, peer, { isLocomo: file !== undefined, tiny }),
      benchRow({ name: 'a question', unit: 'ms', ours: median(times) }),
      benchRow({ name: 'a turn with its index, compacted', unit: 'bytes', ours: bytes / turns }),
    ];
  } finally {
    await database.close();
    workspace.remove(dir);
  }
}

/** Remembers the turns of a conversation in a table of memories. */
async function remembered(memory: Memory, { turns }: Conversation, table: string): Promise<Finder> {
  for (const { id, session, speaker, text, time } of turns)
    await memory.remember({ table, what: text, who: [speaker], about: [session], when: time, source: id });
  return async (question) => {
    const { memories } = finish(memory.recall({ table, question, topK: MOST }));
    return memories.map(({ source }) => String(source));
  };
}

/** Searches the turns for any word of the question, as written: BM25 without stems. */
async function plain(database: Database, { turns }: Conversation, name: string): Promise<Finder> {
  const statements = new EmbeddedStatements({ database });
  await statements.run(`CREATE HYPEREDGE TABLE ${name} () PROPERTIES (what TEXT, source TEXT)`);
  await statements.run(`CREATE TEXT INDEX ON ${name} (what)`);
  const table = database.table(name);
  const bulk = table.bulk();
  for (const [place, { id, text, time }] of turns.entries())
    bulk.add({ event_ts: time, members: [place], properties: { what: text, source: id } });
  await bulk.commit();
  const find = `MATCH (t:${name}) WHERE search(t, $words) RETURN t.source AS source ORDER BY score(t) DESC LIMIT ${MOST}`;
  return async (question) => {
    const words = question.replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ');
    const { rows } = await statements.run(find, { words });
    return rows.map((row) => String(row.source));
  };
}

/** Average shares of the evidence among the first turns, by kind. */
class Shares {
  readonly #sums = new Map<string, { sum: number; count: number }>();

  add({ kind, evidence }: Question, found: readonly string[]): void {
    for (const depth of DEPTHS) {
      const first = found.slice(0, depth);
      const share = evidence.filter((id) => first.includes(id)).length / evidence.length;
      for (const name of [kind, 'all']) {
        const one = this.#sums.get(`${name} ${depth}`) ?? { sum: 0, count: 0 };
        this.#sums.set(`${name} ${depth}`, { sum: one.sum + share, count: one.count + 1 });
      }
    }
  }

  count(kind: Kind | 'all'): number {
    return this.#sums.get(`${kind} 5`)?.count ?? 0;
  }

  percent(kind: Kind | 'all', depth: Depth): number {
    const { sum, count } = this.#sums.get(`${kind} ${depth}`)!;
    return (100 * sum) / count;
  }
}

function rowsOf(ours: Shares, peer: Shares, { isLocomo, tiny }: { isLocomo: boolean; tiny: boolean }): BenchRow[] {
  const kinds = ['all', ...(tiny ? [] : KIND_NAMES)].filter((kind) => ours.count(kind as Kind | 'all') > 0) as (
    | Kind
    | 'all'
  )[];
  return kinds.flatMap((kind) =>
    DEPTHS.map((depth) => {
      const wanted = depth === 10 && isLocomo ? TARGETS[kind] : undefined;
      const times = isLocomo ? TIMES.locomo : TIMES.others;
      const beside: Target | undefined = kind === 'all' ? { ratioAtLeast: times } : undefined;
      const target = wanted === undefined ? beside : { oursAtLeast: wanted };
      return benchRow({
        name: `turns of ${ours.count(kind)} questions (${kind}) in the first ${depth}, beside BM25`,
        unit: '%',
        ours: ours.percent(kind, depth),
        peer: peer.percent(kind, depth),
        ...(target === undefined ? {} : { target }),
      });
    }),
  );
}
