import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { shellCommand } from '../../src/cli/shell/command.ts';
import { History, MOST_ENTRIES } from '../../src/cli/shell/history.ts';
import { StatementServer } from './statement-server.ts';
import { lookInto, stream, TestWorld } from './support.ts';

let world: TestWorld;
let server: StatementServer;

beforeAll(async () => {
  server = await StatementServer.start();
  await server.database.createTable({ name: 'trips', columns: [{ name: 'place', type: 'TEXT' }] });
});
afterAll(() => server.close());
beforeEach(() => {
  world = new TestWorld();
  server.requests.length = 0;
  server.hold = Promise.resolve();
  server.gone = () => {};
});
afterEach(() => world.remove());

describe('a script', () => {
  function script(
    text: string | readonly string[],
    flags: Parameters<typeof shellCommand>[0] = { url: server.url },
  ): Promise<number> {
    world.out = '';
    world.err = '';
    world.stdin = stream(typeof text === 'string' ? [text] : text);
    return shellCommand(flags, world);
  }

  test('runs statements and commands in order, even a last one without a semicolon', async () => {
    const text = `// a script
CREATE HYPEREDGE TABLE made (ship) PROPERTIES (n INTEGER);
INSERT INTO made (event_ts, members, n) VALUES (1, [2], 3),
  (2, [2], 4); .mode is no command here
`;
    expect(await script(text)).toBe(1);
    expect(world.err).toMatch(/^hedgerow: line 4 of the input: Line 1, column 1: found "\."/);
    const more = `.mode ndjson
  .param least 3
MATCH (m:made) WHERE m.n > $least
  RETURN m.n; MATCH (m:made) RETURN COUNT(*) AS c;
.mode csv
MATCH (m:made) RETURN m.n ORDER BY m.n`;
    // Each character arrives separately.
    expect(await script([...more]), world.err).toBe(0);
    expect(world.out).toBe('{"n":4}\n{"c":2}\n"n"\n3\n4\n');
    expect(await script('DROP HYPEREDGE TABLE made;')).toBe(0);
  });

  test('stops at the first error', async () => {
    expect(await script('.mode ndjson\nSHOW TABLES;\nNONSENSE;\nCREATE HYPEREDGE TABLE never ();\n')).toBe(1);
    expect(world.out.split('\n').length).toBe(3);
    expect(world.err).toMatch(
      /^hedgerow: line 3 of the input: Line 1, column 1: found "NONSENSE".*\n {2}NONSENSE\n {2}\^\n$/,
    );
    expect(server.database.tables().map(({ name }) => name)).not.toContain('never');
    for (const bad of ['.nothing', '.mode xml', '.timer maybe', '.param x {', '.param 1 2', '.schema nowhere']) {
      expect(await script(`${bad}\nSHOW TABLES;`)).toBe(1);
      expect(world.out).toBe('');
      expect(world.err).toMatch(/^hedgerow: /);
    }
  });

  test('is one session, so that it can commit what it began', async () => {
    expect(await script('BEGIN;\nINSERT INTO trips (event_ts, members) VALUES (5, [1]);\nCOMMIT;\n'), world.err).toBe(
      0,
    );
    expect(new Set(server.requests.map(({ session }) => session)).size).toBe(1);
    expect(server.database.table('trips').rowCount).toBe(1);
    const first = server.requests[0]!.session;
    expect(await script('SHOW TABLES;')).toBe(0);
    expect(server.requests.at(-1)!.session).not.toBe(first);
  });

  test('leaves no transaction open, whether it ends or fails', async () => {
    for (const end of ['', 'NONSENSE;', '.quit\nCOMMIT;']) {
      const code = await script(`BEGIN;\nINSERT INTO trips (event_ts, members) VALUES (6, [1]);\n${end}`);
      expect(code).toBe(end === 'NONSENSE;' ? 1 : 0);
      expect(server.requests.at(-1)!.query).toBe('ROLLBACK');
      expect(world.err).toMatch(/the open transaction was rolled back/);
    }
    expect(server.database.table('trips').rowCount).toBe(1);
  });

  test('shows tables and indexes', async () => {
    await server.database.createIndex('trips', 'weight');
    expect(await script('.tables\n.indexes\n.schema TRIPS\n'), world.err).toBe(0);
    expect(world.out).toMatch(
      /^name +row_count +bucket_seconds.*\n-+.*\nhyperedges +0 .*\ntrips +1 .*\ntable +column\n-.*\ntrips +weight\nCREATE HYPEREDGE TABLE trips \(\)\n {2}PROPERTIES \(place TEXT\)\n.*;\nCREATE INDEX ON trips \(weight\);\n$/,
    );
    await server.database.dropIndex('trips', 'weight');
  });

  test('sets, lists and removes parameters, shows the elapsed time, and prints help', async () => {
    expect(
      await script(
        '.param a 1\n.param $b "x"\n.param a\n.param\n.timer on\nMATCH (t:trips) RETURN COUNT(*) AS n;\n.help\n',
      ),
    ).toBe(0);
    expect(world.out).toMatch(/^\$b "x"\n\[\n\{"n":1\}\n\]\nTime: [\d.]+ ms, \w+, \d+ of \d+ buckets\n\.tables/);
    expect(server.requests.at(-1)!.parameters).toEqual({ b: 'x' });
    for (const name of ['.tables', '.schema', '.indexes', '.mode', '.timer', '.param', '.help', '.quit'])
      expect(world.out).toContain(name);
  });

  test('runs in a directory, with transactions', async () => {
    await lookInto(world.path('db'), () => undefined);
    const text =
      'BEGIN; INSERT INTO hyperedges (event_ts, members) VALUES (1, [1]); ROLLBACK; BEGIN; INSERT INTO hyperedges (event_ts, members) VALUES (2, [1]); COMMIT; MATCH (e:hyperedges) RETURN e.event_ts;';
    expect(await script(text, { data: 'db', format: 'ndjson' }), world.err).toBe(0);
    expect(world.out.trimEnd().split('\n').at(-1)).toBe('{"event_ts":2}');
  });

  test('ends at an interrupt', async () => {
    server.hold = new Promise(() => {});
    const gone = new Promise<void>((resolve) => {
      server.gone = resolve;
    });
    const running = script('SHOW TABLES;\nSHOW TABLES;\n');
    while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    world.interrupt!();
    expect(await running).toBe(1);
    expect(world.err).toMatch(/cancelled/);
    await gone;
    expect(server.requests.length).toBe(1);
  });

  test('does nothing when the input is empty, and refuses a wrong call', async () => {
    expect(await script('')).toBe(0);
    expect(await script('\n // nothing\n;;\n')).toBe(0);
    expect(server.requests).toEqual([]);
    expect(await script('', { url: 'x' })).toBe(2);
    expect(await script('', { data: 'db', url: server.url })).toBe(2);
    expect(await script('', { data: 'gone' })).toBe(1);
  });
});

/** A terminal that accepts keys and shows what was printed. */
class Terminal {
  readonly input = Object.assign(new PassThrough(), { isTTY: true });
  readonly code: Promise<number>;
  screen = '';
  #seen = 0;

  constructor(flags: Parameters<typeof shellCommand>[0] = { url: server.url }) {
    world.environment.HOME = world.cwd;
    world.stdin = this.input;
    const output = Object.assign(new PassThrough(), { isTTY: true, columns: 200, rows: 50 });
    output.on('data', (data) => {
      this.screen += data;
    });
    this.code = shellCommand(
      flags,
      Object.assign(Object.create(world), { stdin: this.input, stdout: output, stderr: output }),
    );
  }

  type(keys: string): void {
    this.input.write(keys);
  }

  /** Waits for new matching output on the screen. */
  async sees(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.screen.slice(this.#seen));
      if (found !== null) {
        this.#seen += found.index + found[0].length;
        return found;
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

const UP = '\u001b[A';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

describe('a terminal', () => {
  test('accepts statements of several lines, shows tables and continues after an error', async () => {
    const terminal = new Terminal();
    await terminal.sees(/hedgerow> /);
    terminal.type('MATCH (t:trips)\r');
    await terminal.sees(/\.\.\.> /);
    terminal.type('RETURN COUNT(*) AS n;\r');
    await terminal.sees(/n\r?\n-\r?\n1\r?\n\(1 row\)\r?\n/);
    terminal.type('NONSENSE;\r');
    await terminal.sees(/hedgerow: Line 1, column 1: found "NONSENSE"/);
    await terminal.sees(/hedgerow> /);
    terminal.type('BEGIN;\r');
    await terminal.sees(/hedgerow\*> /);
    terminal.type('ROLLBACK;\r');
    await terminal.sees(/hedgerow> /);
    terminal.type('.quit\r');
    expect(await terminal.code).toBe(0);
  });

  test('saves each statement on one line in a private history, but no commands or parameters', async () => {
    const first = new Terminal();
    await first.sees(/hedgerow> /);
    first.type('.param secret "word"\r');
    await first.sees(/hedgerow> /);
    first.type('SHOW // all\r');
    await first.sees(/\.\.\.> /);
    first.type('TABLES;\r');
    await first.sees(/\(2 rows\)/);
    first.type(CTRL_D);
    expect(await first.code).toBe(0);
    const path = world.path('.hedgerow_history');
    expect(readFileSync(path, 'utf8')).toBe('SHOW  TABLES;\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const second = new Terminal();
    await second.sees(/hedgerow> /);
    second.type(UP);
    await second.sees(/SHOW {2}TABLES;/);
    second.type('\r');
    await second.sees(/\(2 rows\)/);
    second.type('.timer on\r');
    await second.sees(/hedgerow> /);
    // Commands of the shell are not added to the history, so the statement is still the newest
    // entry.
    second.type(`${UP}\r`);
    await second.sees(/\(2 rows\)[\s\S]*Time: /);
    second.type('.quit\r');
    await second.code;
    expect(readFileSync(path, 'utf8')).toBe('SHOW  TABLES;\n');
  });

  test('forgets the typed text and stops a running statement at Ctrl-C', async () => {
    const terminal = new Terminal();
    await terminal.sees(/hedgerow> /);
    terminal.type('MATCH (t:trips)\r');
    await terminal.sees(/\.\.\.> /);
    terminal.type(`RETURN nonsense${CTRL_C}`);
    await terminal.sees(/\^C[\s\S]*hedgerow> /);
    terminal.type(CTRL_C);
    await terminal.sees(/\.quit or Ctrl-D/);
    server.hold = new Promise(() => {});
    const gone = new Promise<void>((resolve) => {
      server.gone = resolve;
    });
    server.requests.length = 0;
    terminal.type('SHOW TABLES;\r');
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    terminal.type(CTRL_C);
    await terminal.sees(/hedgerow: cancelled\./);
    await gone;
    server.hold = Promise.resolve();
    terminal.type('SHOW TABLES;\r');
    await terminal.sees(/\(2 rows\)/);
    terminal.type(CTRL_D);
    expect(await terminal.code).toBe(0);
  });

  test('asks before a destructive statement and runs it only after a yes', async () => {
    await server.database.createTable({ name: 'doomed', columns: [{ name: 'n', type: 'INTEGER' }] });
    const has = () => server.database.tables().some(({ name }) => name === 'doomed');
    const terminal = new Terminal();
    await terminal.sees(/hedgerow> /);
    for (const answer of ['\r', 'n\r', 'SHOW TABLES;\r', CTRL_C]) {
      terminal.type('DROP HYPEREDGE TABLE doomed; SHOW TABLES;\r');
      await terminal.sees(/DROP HYPEREDGE TABLE doomed: this cannot be undone\.\s+[\s\S]*Run it\? \[y\/N\] /);
      terminal.type(answer);
      await terminal.sees(/Not run\.\r?\n[\s\S]*hedgerow> /);
    }
    for (const statement of ['DELETE FROM doomed', 'UPDATE doomed SET n = 1']) {
      terminal.type(`${statement};\r`);
      await terminal.sees(/without WHERE this (removes|changes) every edge[\s\S]*Run it\? /);
      terminal.type('no\r');
      await terminal.sees(/Not run\.\r?\n[\s\S]*hedgerow> /);
    }
    // Lines pasted after the statement do not count as an answer.
    terminal.type('DROP HYPEREDGE TABLE doomed;\rY\r');
    await terminal.sees(/Run it\? /);
    expect(server.requests.filter(({ query }) => /DROP|DELETE|UPDATE/.test(query))).toEqual([]);
    expect(has()).toBe(true);
    terminal.type('yes\r');
    await terminal.sees(/hedgerow> /);
    expect(has()).toBe(false);
    terminal.type('DELETE FROM trips WHERE id = 0;\r');
    await terminal.sees(/rows_affected[\s\S]*hedgerow> /);
    expect(terminal.screen.match(/Run it\? /g)!.length).toBeGreaterThan(6);
    // The end of the input does not mean yes.
    terminal.type('DELETE FROM trips;\r');
    await terminal.sees(/Run it\? /);
    terminal.type(CTRL_D);
    expect(await terminal.code).toBe(0);
    expect(server.requests.filter(({ query }) => query.startsWith('DELETE')).length).toBe(1);
  });

  test('completes names at the tab key, even those of tables created meanwhile', async () => {
    const terminal = new Terminal();
    await terminal.sees(/hedgerow> /);
    // A tab completes only if no other key arrives together with it and after it. Before other keys
    // it counts as pasted text.
    terminal.type('MATCH (t:tri\t');
    await terminal.sees(/MATCH \(t:trips/);
    terminal.type(') RETURN t.pl\t');
    await terminal.sees(/RETURN t\.place/);
    terminal.type(';\r');
    await terminal.sees(/\(1 row\)/);
    terminal.type('CREATE HYPEREDGE TABLE voyages ();\r');
    await terminal.sees(/\(1 row\)\s+[\s\S]*hedgerow> /);
    terminal.type('COMPACT voy\t');
    await terminal.sees(/COMPACT voyages/);
    terminal.type(';\r');
    await terminal.sees(/\(1 row\)/);
    terminal.type('.mo\t');
    await terminal.sees(/\.mode/);
    terminal.type(' js\t');
    await terminal.sees(/json/);
    terminal.type('\r');
    await terminal.sees(/hedgerow> /);
    terminal.type("MATCH (t:trips) WHERE t.place = 'voy\t");
    terminal.type("' RETURN t.id;\r");
    await terminal.sees(/\[\]/);
    expect(server.requests.at(-1)!.query).toBe("MATCH (t:trips) WHERE t.place = 'voy' RETURN t.id");
    terminal.type('.quit\r');
    expect(await terminal.code).toBe(0);
    await server.database.dropTable('voyages');
  });

  test('runs all lines that are pasted at once', async () => {
    const terminal = new Terminal();
    await terminal.sees(/hedgerow> /);
    terminal.type(
      '.mode ndjson\rMATCH (t:trips) RETURN 1 AS a; MATCH (t:trips)\rRETURN 2 AS b;\rMATCH (t:trips) RETURN 3 AS c;\r.quit\r',
    );
    expect(await terminal.code).toBe(0);
    const rows = terminal.screen.split(/\r?\n/).filter((line) => line.startsWith('{'));
    expect(rows).toEqual(['{"a":1}', '{"b":2}', '{"c":3}']);
  });
});

describe('a history', () => {
  test('is bounded and keeps its newest entries', () => {
    const path = world.path('history');
    writeFileSync(path, Array.from({ length: MOST_ENTRIES + 50 }, (_, i) => `statement ${i};\n`).join(''));
    chmodSync(path, 0o644);
    const history = new History(path);
    expect(history.entries.length).toBe(MOST_ENTRIES);
    expect(history.entries[0]).toBe(`statement ${MOST_ENTRIES + 49};`);
    expect(readFileSync(path, 'utf8').split('\n').length).toBe(MOST_ENTRIES + 1);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    history.add('one more;');
    history.add('one more;');
    history.add('x'.repeat(20_000));
    expect(history.entries.length).toBe(MOST_ENTRIES);
    expect(new History(path).entries.slice(0, 2)).toEqual(['one more;', `statement ${MOST_ENTRIES + 49};`]);
  });

  test('still works in memory when its file cannot be written', () => {
    const history = new History(world.path('no/such/directory'));
    history.add('a;');
    history.add('b;');
    expect(history.entries).toEqual(['b;', 'a;']);
    expect(existsSync(world.path('no'))).toBe(false);
  });
});
