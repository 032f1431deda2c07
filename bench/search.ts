// Full-text search beside SQLite FTS5: how fast an index is built, how large it is, and how long
// the ten best of two words take.
//
// The texts are of words whose frequencies follow the law of Zipf and Mandelbrot, with 6 to 25
// words each. FTS5 keeps no copy of the texts (`content=''`), and its index is optimized into one
// segment before it is searched, as ours is compacted.

import Sqlite from 'better-sqlite3';
import { openDatabase } from 'hedgerow';
import { EmbeddedStatements } from '../dist/query/embedded.js';
import { type Random, randomFrom } from '../test/core/support/random.ts';
import { alternate, median, timed } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';

const TEXTS = 1_000_000;
const VOCABULARY = 100_000;
const SHIFT = 2.7;
const BATCH = 20_000;
const ROUNDS = 15;
/** Runs of a search one after the other, of which only the last IN_ROW count. */
const WARM_UPS = 300;
const IN_ROW = 50;
/** Searches with two of the FREQUENT most frequent words, other ones each time. */
const OTHERS = 400;
const FREQUENT = 60;
/** Ranks of the two words of each search, by frequency; 0 is the most frequent. */
const PAIRS = [
  [0, 1],
  [5, 50],
  [20, 30],
  [100, 3000],
] as const;
const FIND = 'MATCH (n:notes) WHERE search(n, $words) RETURN n.id, score(n) ORDER BY score(n) DESC LIMIT 10';
const COUNT = 'MATCH (n:notes) WHERE search(n, $words) RETURN COUNT(*) AS n';
const WITHOUT = 'MATCH (n:notes) WHERE NOT search(n, $words) RETURN COUNT(*) AS n';
const LETTERS = 'etaoinshrdlucmfwypvbgkjqxz';

export async function runSearch({ tiny, workspace, note }: PartOptions): Promise<BenchRow[]> {
  const texts = textsOf(randomFrom(22), tiny ? 2000 : TEXTS);
  const dir = workspace.fresh('search');
  const database = await openDatabase({ dir });
  const statements = new EmbeddedStatements({ database });
  const sqlite = new Sqlite(':memory:');
  try {
    await statements.run('CREATE HYPEREDGE TABLE notes () PROPERTIES (body TEXT)');
    const table = database.table('notes');
    for (let from = 0; from < texts.length; from += BATCH) {
      const bulk = table.bulk();
      for (const [place, body] of texts.slice(from, from + BATCH).entries())
        bulk.add({ event_ts: from + place, members: [(from + place) % 1000], properties: { body } });
      await bulk.commit();
    }
    await database.compact({});
    const bytes = () => table.version.segments.reduce((sum, { facts }) => sum + facts.bytes, 0);
    const plainBytes = bytes();
    const buildMs = await timed(() => statements.run('CREATE TEXT INDEX ON notes (body)'));
    const indexBytes = bytes() - plainBytes;
    const peerMs = await timed(() => fillFts(sqlite, texts));
    sqlite.exec("INSERT INTO notes (notes) VALUES ('optimize')");
    const peerBytes = sqlite.prepare('SELECT SUM(LENGTH(block)) FROM notes_data').pluck().get() as number;
    note(`search: ${texts.length} texts; DuckDB's fts is an extension that is loaded from the network: left out`);
    const rows = [
      benchRow({
        name: 'index of texts that are there, beside an FTS5 table filled in one transaction',
        unit: 'texts/s',
        ours: (texts.length / buildMs) * 1000,
        peer: (texts.length / peerMs) * 1000,
        target: { ratioAtLeast: 1 },
      }),
      benchRow({
        name: 'index, beside FTS5 after optimize',
        unit: 'bytes/text',
        ours: indexBytes / texts.length,
        peer: peerBytes / texts.length,
        target: { ratioAtMost: 1 },
      }),
    ];
    rows.push(await countedWithout(statements, sqlite, tiny));
    let [longest, longestInRow] = [0, 0];
    for (const [first, second] of PAIRS) {
      const { ours, inRow, peer, matches } = await searched(statements, sqlite, wordOf(first), wordOf(second), tiny);
      longest = Math.max(longest, ours);
      longestInRow = Math.max(longestInRow, inRow);
      rows.push(
        benchRow({
          name: `10 best of words ${first + 1} and ${second + 1} by frequency, ${matches} texts, beside FTS5`,
          unit: 'searches/s',
          ours: 1000 / ours,
          peer: 1000 / peer,
          target: { ratioAtLeast: 3 },
        }),
      );
    }
    const slowest = (name: string, ours: number) =>
      rows.push(benchRow({ name: `the slowest of these, ${name}`, unit: 'ms', ours, target: { oursAtMost: 2 } }));
    slowest('one after the other', longestInRow);
    slowest('in turns with FTS5, which empties the caches', longest);
    const others = await searchedOthers(statements, tiny ? 2 : OTHERS);
    const name = `10 best of two of the ${FREQUENT} most frequent words, others each time, 95 % are faster`;
    rows.push(benchRow({ name, unit: 'ms', ours: others, target: { oursAtMost: 2 } }));
    return rows;
  } finally {
    sqlite.close();
    await database.close();
    workspace.remove(dir);
  }
}

/** Counts the texts without two words, which SQLite does by their row ids in a table. */
async function countedWithout(
  statements: EmbeddedStatements,
  sqlite: Sqlite.Database,
  tiny: boolean,
): Promise<BenchRow> {
  const [first, second] = PAIRS[1].map(wordOf) as [string, string];
  sqlite.exec('CREATE TABLE ids (id INTEGER PRIMARY KEY)');
  sqlite.exec('INSERT INTO ids SELECT id FROM notes_docsize');
  const peerCount = sqlite
    .prepare('SELECT COUNT(*) FROM ids WHERE id NOT IN (SELECT rowid FROM notes WHERE notes MATCH ?)')
    .pluck();
  const words = `${first} ${second}`;
  const either = `${first} OR ${second}`;
  const counted = (await statements.run(WITHOUT, { words })).rows[0]!.n as number;
  if (counted !== peerCount.get(either)) throw new Error(`search: ${counted} texts without ${words}, FTS5 differs`);
  const [ours, peer] = await alternate(
    tiny ? 1 : 5,
    [() => timed(() => statements.run(WITHOUT, { words })), () => timed(() => peerCount.get(either))],
    true,
  );
  const name = `count of ${counted} texts without words ${PAIRS[1].map((rank) => rank + 1).join(' and ')}, beside FTS5`;
  return benchRow({ name, unit: 'counts/s', ours: 1000 / ours!, peer: 1000 / peer!, target: { ratioAtLeast: 0.3 } });
}

/**
 * Compares the number of texts that match, and returns the median ms of both for the ten best in
 * turns, and of ours one after the other.
 */
async function searched(
  statements: EmbeddedStatements,
  sqlite: Sqlite.Database,
  first: string,
  second: string,
  tiny: boolean,
): Promise<{ ours: number; inRow: number; peer: number; matches: number }> {
  const words = `${first} ${second}`;
  const either = `${first} OR ${second}`;
  const matches = (await statements.run(COUNT, { words })).rows[0]!.n as number;
  const peerMatches = sqlite.prepare('SELECT COUNT(*) FROM notes WHERE notes MATCH ?').pluck().get(either) as number;
  if (matches !== peerMatches) throw new Error(`search: ${words}: ${matches} texts, FTS5 finds ${peerMatches}`);
  const best = sqlite.prepare('SELECT rowid, bm25(notes) FROM notes WHERE notes MATCH ? ORDER BY bm25(notes) LIMIT 10');
  // V8 compiles the host's part of a search to faster code only after some runs.
  const inRow: number[] = [];
  for (let run = 0; run < (tiny ? 1 : WARM_UPS); run++) inRow.push(await timed(() => statements.run(FIND, { words })));
  const [ours, peer] = await alternate(
    tiny ? 1 : ROUNDS,
    [() => timed(() => statements.run(FIND, { words })), () => timed(() => best.all(either))],
    true,
  );
  return { ours: ours!, inRow: median(inRow.slice(-IN_ROW)), peer: peer!, matches };
}

/** Returns in how many ms 95 % of searches with other words each time are done. */
async function searchedOthers(statements: EmbeddedStatements, count: number): Promise<number> {
  const random = randomFrom(23);
  const all: number[] = [];
  for (let run = 0; run < count; run++) {
    const first = random.below(FREQUENT);
    const second = (first + 1 + random.below(FREQUENT - 1)) % FREQUENT;
    const words = `${wordOf(first)} ${wordOf(second)}`;
    all.push(await timed(() => statements.run(FIND, { words })));
  }
  // What is kept of the words is made by the first half of the searches.
  const later = all.slice(count / 2).sort((a, b) => a - b);
  return later[Math.floor(later.length * 0.95)]!;
}

function fillFts(sqlite: Sqlite.Database, texts: readonly string[]): void {
  sqlite.exec("CREATE VIRTUAL TABLE notes USING fts5(body, content='', tokenize='unicode61')");
  const insert = sqlite.prepare('INSERT INTO notes (rowid, body) VALUES (?, ?)');
  sqlite.transaction(() => {
    for (const [place, body] of texts.entries()) insert.run(place + 1, body);
  })();
}

/** Returns texts of words with frequencies 1 / (rank + SHIFT). */
function textsOf(random: Random, count: number): string[] {
  const sums = new Float64Array(VOCABULARY);
  let sum = 0;
  for (let rank = 0; rank < VOCABULARY; rank++) {
    sum += 1 / (rank + 1 + SHIFT);
    sums[rank] = sum;
  }
  const names = Array.from(sums, (_, rank) => wordOf(rank));
  const rankAt = (place: number): number => {
    let low = 0;
    let high = VOCABULARY - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sums[middle]! < place) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const word = () => names[rankAt(random.unit() * sum)]!;
  return Array.from({ length: count }, () => Array.from({ length: 6 + random.below(20) }, word).join(' '));
}

/** Returns the word of a rank, 2 to 5 letters. */
function wordOf(rank: number): string {
  let word = '';
  for (let rest = rank + LETTERS.length; rest > 0; rest = Math.floor(rest / LETTERS.length))
    word += LETTERS[rest % LETTERS.length]!;
  return word;
}
