// Checks the style of the source: the direction of imports between folders ("rooms"), other rules
// that can be checked automatically, and lists of exceptions that may only shrink.

import { describe, expect, it } from 'vitest';
import { foldersBelow, functionsOf, type SourceFile, sourceFiles } from './support/source-tree.ts';

/** Maximum number of lines in a file, including comments of at most MAX_COMMENT_COLUMNS. */
const MAX_FILE_LINES = 500;
const MAX_COMMENT_COLUMNS = 100;
const MAX_FUNCTION_LINES = 70;

/**
 * Files over the limit, with their maximum length. After shortening a file, shorten its entry too,
 * and remove the entry once the file is short enough.
 */
const LONG_FILES: Record<string, number> = {
  'test/engine/corruption.test.ts': 540,
  'test/support/engine-history.ts': 995,
};

/** Functions over the limit, as `FILE FUNCTION`, with their maximum length. */
const LONG_FUNCTIONS: Record<string, number> = {};

/** Files that import nothing from src except each other. */
const GROUND = ['assert.ts', 'errors.ts', 'iso-time.ts', 'limits.ts', 'text-search.ts', 'version.ts'];
/**
 * What every room may import. `schedule` runs long work in turns of the event loop, and `threads`
 * is the common code of worker threads.
 */
const BASE = [...GROUND, 'model', 'schedule', 'threads'];
const ROOMS = ['query', 'analytics', 'virtual', 'rag', 'memory', 'access'];
/** What the service is composed of. */
const COMPOSED = [
  ...BASE,
  'config.ts',
  'observe',
  'engine',
  ...ROOMS,
  'rules',
  'llm',
  'http',
  'follow',
  'high-availability',
  'routes',
  'storage',
];
/** What each room of src may import besides itself. Imports go only from higher to lower rooms. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  'assert.ts': [],
  'errors.ts': [],
  'iso-time.ts': [],
  'limits.ts': [],
  'text-search.ts': [],
  'valibot.ts': [],
  'version.ts': [],
  schedule: GROUND,
  threads: GROUND,
  model: ['errors.ts', 'iso-time.ts', 'limits.ts'], // pure, because browsers run it: edges, columns, valid texts
  text: ['errors.ts', 'model'], // pure: words, queries and BM25 know nothing of tables
  observe: BASE,
  config: [...BASE, 'observe'],
  'config.ts': [...BASE, 'config', 'observe'],
  storage: BASE,
  core: BASE,
  engine: [...BASE, 'storage', 'core', 'text', 'valibot.ts'],
  postgres: [], // the driver
  rules: BASE,
  llm: BASE,
  formats: ['model'], // runs in browsers, because the console uses it
  tabular: ['model'], // pure, because browsers run it: the meaning of columns and cells of a foreign table
  query: [...BASE, 'engine', 'core', 'storage', 'formats', 'text'],
  analytics: [...BASE, 'engine', 'core', 'storage'], // storage: the analytics thread receives the files
  virtual: [...BASE, 'engine', 'postgres', 'tabular'],
  access: [...BASE, 'engine'],
  rag: ['text', ...BASE, 'engine', 'query', 'rules', 'llm'],
  memory: [...BASE, 'engine', 'core', 'rag'],
  // Not the engine, because the services that a route receives are a type parameter.
  http: [...BASE, 'config', 'valibot.ts', 'observe', 'access'],
  follow: [...BASE, 'engine', 'core', 'storage'],
  'high-availability': [...BASE, 'engine', 'core', 'postgres', 'storage'],
  routes: [...BASE, 'config', 'http', 'engine', 'follow', 'observe', ...ROOMS, 'rules', 'text'], // text: names of languages
  client: [...BASE, 'http', 'routes'], // types only, see below
  console: ['client', 'formats', 'tabular', 'model', 'http', 'routes'], // of the last two, types only; see below
  'index.ts': [...BASE, 'engine', 'core', 'query', 'analytics', 'rules', 'rag', 'virtual'],
  // Several processes of one service: the engine's changes travel through follow.
  workers: [...BASE, 'http', 'follow', 'observe'],
  app: [...COMPOSED, 'workers'],
  'app.ts': ['app', 'workers', ...COMPOSED],
  'worker.ts': ['app.ts', 'config.ts', 'workers'],
  cli: [
    ...BASE,
    'app.ts',
    'app',
    'config.ts',
    'observe',
    'storage',
    'core',
    'engine',
    ...ROOMS,
    'rules',
    'http',
    'high-availability',
    'routes',
    'client',
    'formats',
    'tabular',
  ],
  'main.ts': ['version.ts', 'cli'],
};

/** Entry points of programs and hosts. A file that is not reachable from any of them is dead. */
const ENTRIES = [
  'src/index.ts',
  'src/main.ts',
  'src/worker.ts',
  'src/core/index.ts',
  'src/engine/compaction/worker.ts',
  'src/query/copy/parquet-thread.ts',
  'src/analytics/worker.ts',
  'src/virtual/backends/duckdb-process.ts',
  'src/client/index.ts',
  'src/console/main.tsx',
];

interface Ban {
  pattern: RegExp;
  instead: string;
  /** Where the pattern is banned. Default: all of src. */
  within?: RegExp;
  /** Files or folders where the pattern is allowed, with the reason in a comment. */
  except?: readonly string[];
}

const BANS: readonly Ban[] = [
  {
    pattern: /process\.env\b/,
    instead: 'a field of Config (config.ts reads the environment)',
    except: ['src/config.ts', 'src/cli/'],
  },
  {
    pattern: /\bfrom 'node:fs/,
    instead: 'the Fs port',
    except: [
      'src/storage/node-fs.ts',
      'src/storage/directory-lock.ts',
      'src/storage/lock-file.ts',
      'src/storage/lock-socket.ts',
      'src/core/load.ts',
      'src/text/snowball.ts',
      'src/cli/',
      'src/app/prepare.ts',
      'src/http/transport-node.ts',
      'src/version.ts',
      'src/threads/priority.ts',
      'src/virtual/backends/files.ts',
      'src/virtual/backends/held-files.ts',
      'src/http/tcp-table.ts',
      'src/http/connection-limit.ts',
      'src/workers/',
    ],
  }, // shared-state.ts: read at each request; prepare.ts: built pages, certificate, key; transport-node.ts: certificate, key; files.ts: user files; tcp-table.ts: kernel table
  {
    pattern: /\b(Date\.now|Math\.random|setTimeout|setInterval|performance\.now|new Date)\(/,
    instead: 'the clock, schedule or random function that was passed in',
    within: /^src\/(engine|storage|core)\//,
    except: ['src/core/load.ts', 'src/engine/open.ts', 'src/storage/lock-socket.ts'],
  }, // load.ts: cost of a failed instance; lock-socket.ts: how long another process may take to answer
  {
    pattern: /\bMath\.random\(/,
    instead: 'node:crypto, or a random function that was passed in',
    except: ['src/engine/open.ts'],
  },
  {
    pattern: /\bfrom 'node:|\b(Buffer|process)\./,
    instead: 'what browsers have too: the console shares these rooms',
    within: /^src\/(tabular|formats|model)\//,
  },
  { pattern: /\bmemory\.buffer\b/, instead: 'CoreMemory of core/views.ts', except: ['src/core/views.ts'] },
  {
    pattern: /\bWebAssembly\.(instantiate|compile|Module\()|\binstantiateSync\(/,
    instead: 'loadCore of core/load.ts',
    except: ['src/core/load.ts'],
  },
  { pattern: /\bconsole\.\w/, instead: 'the logger of observe/log.ts, or the output the command was given' },
  {
    pattern: /\bprocess\.exit\(/,
    instead: 'an exit code that is returned',
    except: ['src/main.ts', 'src/cli/world.ts', 'src/worker.ts', 'src/workers/worker-peer.ts'],
  },
  {
    pattern: /\bHEDGEROW_|\bOPENAI_API_KEY\b/,
    instead: 'a key in `settings` of the error: http/ and cli/ add the variable, which an embedder does not have',
    except: ['src/config', 'src/app', 'src/http/', 'src/routes/', 'src/cli/', 'src/client/', 'src/console/'],
  },
  { pattern: /\beval\(|new Function\(/, instead: 'code' },
  { pattern: /JSON\.parse\(JSON\.stringify\(/, instead: 'structuredClone' },
  { pattern: /\bas any\b|: any\b|<any>/, instead: 'unknown and a check' },
  { pattern: /@ts-(ignore|nocheck)/, instead: '@ts-expect-error with a reason' },
  {
    pattern: /\bfsync(Sync)?\(|\bfdatasync(Sync)?\(/,
    instead: 'sync of a FileHandle of the Fs port',
    except: ['src/storage/node-fs.ts'],
  },
];

/** Rules that must exist only once, each with the one file that may contain them. */
const ONCE: readonly { rule: string; pattern: RegExp; owner: string }[] = [
  {
    rule: 'well-formed texts',
    pattern: /LONE_SURROGATE|\.(is|to)WellFormed\(|\/\\p\{(Surrogate|Cs)\}\/g?u/,
    owner: 'src/model/text.ts',
  },
  { rule: 'identifiers', pattern: /\^\[A-Za-z_\](\[A-Za-z0-9_\]|\\w)\{0,63\}\$/, owner: 'src/model/columns.ts' },
  { rule: 'built-in columns', pattern: /mean_dist_m: '|name: 'mean_dist_m'/, owner: 'src/model/columns.ts' },
  {
    rule: 'did-you-mean',
    pattern: /function (editDistance|differences|nearestName)\b/,
    owner: 'src/model/suggestions.ts',
  },
  {
    rule: 'names of time columns',
    pattern: /'(zeitpunkt|fecha|occurred_at)'/,
    owner: 'src/tabular/time-column.ts',
  },
  {
    rule: 'words for the sides of an edge',
    pattern: /\b(callee|recipient)\b.*\b(payee|receiver)\b/,
    owner: 'src/tabular/words.ts',
  },
  { rule: 'which answers are sent whole', pattern: /\btoEnd: (true|false)/, owner: 'src/http/answer/openings.ts' },
  { rule: 'words for an empty cell', pattern: /'#n\/a'/, owner: 'src/tabular/cell-types.ts' },
  { rule: 'lines that name the delimiter', pattern: /sep=\(/, owner: 'src/tabular/header.ts' },
  { rule: 'order of day and month', pattern: /\bDAY_MONTH_TIME =/, owner: 'src/tabular/times.ts' },
];
/** Files of the core that may shift by the width of a cell, with the reason. */
const SHIFTS_ALLOWED: Record<string, string> = {
  'assembly/memory/cells.ts': 'the owner of the rule',
  'assembly/codec/crc32c.ts': 'a table is indexed by a byte inside of a word: one shift and one mask',
  'assembly/codec/vbyte.ts': 'length codes of two bits, lengths of 1 << code bytes',
  'assembly/json/number.ts': 'arithmetic of decimal digits, no addresses',
};

const src = sourceFiles('src', ['.ts', '.tsx']);
const assembly = sourceFiles('assembly');
const tests = sourceFiles('test');
const bench = sourceFiles('bench');
const all = [...src, ...assembly, ...tests, ...bench];

/** Returns the room of a path below src: its first folder, or the file itself. */
function roomOf(path: string): string {
  return path.split('/')[1]!;
}

/** Returns every matching line of the code, as `file:line`. */
function places(files: readonly SourceFile[], pattern: RegExp): string[] {
  return files.flatMap((file) =>
    file.code.flatMap((line, index) => (pattern.test(line) ? [`${file.path}:${index + 1}`] : [])),
  );
}

function reachable(): Set<string> {
  const byPath = new Map(src.map((file) => [file.path, file]));
  const seen = new Set<string>();
  const visit = (path: string) => {
    const file = byPath.get(path);
    if (file === undefined || seen.has(path)) return;
    seen.add(path);
    for (const imported of file.imports) visit(imported);
  };
  for (const entry of ENTRIES) visit(entry);
  return seen;
}

/**
 * Compares the entries over a limit with the list of exceptions. There may be no new entry, no
 * longer entry, and no entry that has become short enough.
 */
function expectShrinking(found: Record<string, number>, allowed: Record<string, number>, limit: number): void {
  const grown = Object.entries(found).filter(([name, lines]) => lines > (allowed[name] ?? limit));
  expect(grown, `over ${limit} lines: split it`).toEqual([]);
  const gone = Object.keys(allowed).filter((name) => !(name in found));
  expect(gone, 'short enough now: remove it from the list in tidy.test.ts').toEqual([]);
}

describe('imports', () => {
  it('go only from higher to lower rooms', () => {
    const wrong: string[] = [];
    for (const file of src) {
      const room = roomOf(file.path);
      const may = MAY_IMPORT[room];
      if (may === undefined) wrong.push(`${file.path}: say in MAY_IMPORT what ${room} may import`);
      for (const imported of file.imports.filter((path) => path.startsWith('src/'))) {
        const target = roomOf(imported);
        if (target !== room && !may?.includes(target)) wrong.push(`${file.path} imports ${imported}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('are only types where the client imports other rooms or packages, because the client runs in browsers', () => {
    const wrong = src
      .filter((file) => file.path.startsWith('src/client/'))
      .flatMap((file) =>
        file.code
          .filter((line) => /\bfrom '(\.\.\/|[^.])/.test(line) && !/^(import|export) type\b/.test(line))
          .map((line) => `${file.path}: ${line}`),
      );
    expect(wrong).toEqual([]);
  });

  it('are only types where the console imports http or routes, which do not run in browsers', () => {
    const wrong = src
      .filter((file) => file.path.startsWith('src/console/'))
      .flatMap((file) =>
        file.code
          .filter((line) => /\bfrom '(\.\.\/)+(http|routes)\//.test(line) && !/^import type\b/.test(line))
          .map((line) => `${file.path}: ${line}`),
      );
    expect(wrong).toEqual([]);
  });

  it('form no cycle between rooms in MAY_IMPORT', () => {
    const above = (room: string, path: string[]): string[] => {
      if (path.includes(room)) return [...path, room];
      return (
        (MAY_IMPORT[room] ?? []).map((next) => above(next, [...path, room])).find((cycle) => cycle.length > 0) ?? []
      );
    };
    expect(
      Object.keys(MAY_IMPORT)
        .map((room) => above(room, []).join(' -> '))
        .filter(Boolean),
    ).toEqual([]);
  });

  it('mention each third-party library in only one file', () => {
    const users = new Map<string, string[]>();
    for (const file of src) {
      const packages = new Set(file.imports.filter((name) => !name.startsWith('src/') && !name.startsWith('node:')));
      for (const name of packages) users.set(name, [...(users.get(name) ?? []), file.path]);
    }
    expect([...users].filter(([, files]) => files.length > 1)).toEqual([]);
    expect(users.size).toBeGreaterThan(2);
  });

  it('do not leave src or assembly', () => {
    const outside = (files: readonly SourceFile[], folder: string) =>
      files.flatMap((file) =>
        file.imports
          // csv-stringify, gpt-tokenizer, hyparquet and preact have several entry points.
          .filter(
            (path) =>
              path.includes('/') &&
              !/^(src\/|node:|@|csv-stringify\/|gpt-tokenizer\/|hyparquet\/|preact\/)/.test(path) &&
              !path.startsWith(folder),
          )
          .map((path) => `${file.path}: ${path}`),
      );
    expect(outside(src, 'src/')).toEqual([]);
    const wrong = assembly.flatMap((file) =>
      file.imports.filter((path) => !path.startsWith('assembly/')).map((path) => `${file.path}: ${path}`),
    );
    expect(wrong).toEqual([]);
  });

  it('reach every file of src from the entry points', () => {
    const seen = reachable();
    expect(src.map((file) => file.path).filter((path) => !seen.has(path))).toEqual([]);
  });
});

describe('rules that exist once', () => {
  it.each(ONCE)('include the rule for $rule, which is only in $owner', ({ pattern, owner }) => {
    const files = new Set(src.filter(({ code }) => code.some((line) => pattern.test(line))).map(({ path }) => path));
    expect([...files]).toEqual([owner]);
  });
});

describe('banned code', () => {
  it.each(BANS)('is not used: $pattern (use $instead)', ({ pattern, within, except }) => {
    const files = src.filter(
      ({ path }) => (within?.test(path) ?? true) && !except?.some((allowed) => path.startsWith(allowed)),
    );
    expect(places(files, pattern)).toEqual([]);
  });

  it('is found in a sample by every ban', () => {
    const sample = [
      'process.env.X',
      "import fs from 'node:fs';",
      'Date.now()',
      'Math.random()',
      'x.memory.buffer',
      'new WebAssembly.Module(x)',
      'console.log(1)',
    ];
    const more = [
      'process.exit(1)',
      'eval(x)',
      'JSON.parse(JSON.stringify(x))',
      'x as any',
      "from 'node:path'",
      '@ts-ignore',
      'fs.fsyncSync(1)',
      "'set HEDGEROW_COPY_ROOT'",
    ];
    expect(BANS.filter(({ pattern }) => ![...sample, ...more].some((line) => pattern.test(line)))).toEqual([]);
  });

  it('includes calls from the core to its host', () => {
    expect(places(assembly, /\b(Date|Math\.random|console|trace|abort|process)\s*[.(]/)).toEqual([]);
    expect(places(assembly, /@external|declare function/)).toEqual([]);
  });

  it('includes address arithmetic in the core, except in the listed files', () => {
    const other = assembly.filter(({ path }) => !(path in SHIFTS_ALLOWED));
    expect(places(other, /<< ?([123]\b|alignof)|\* sizeof</)).toEqual([]);
    expect(places(other, /[\w)] \+ <usize>\w+ \* [A-Z_]{2,}/)).toEqual([]);
  });
});

describe('files', () => {
  it('begin with a sentence that states their one job', () => {
    const scripts = [
      ...all,
      ...sourceFiles('test', ['.js', '.c']),
      ...sourceFiles('bench', ['.js', '.c', '.mjs']),
      ...sourceFiles('assembly', ['.mjs']),
    ];
    const silent = scripts.filter(
      ({ path, lines }) =>
        !path.endsWith('.test.ts') && // their describe title states it
        !/^(\/\/|\/\*) .{15}/.test(lines[0]!.startsWith('#!') ? (lines[1] ?? '') : lines[0]!),
    );
    expect(silent.map((file) => file.path)).toEqual([]);
  });

  it('are not in folders such as utils, helpers or common', () => {
    const folders = ['src', 'assembly', 'test', 'bench'].flatMap(foldersBelow);
    expect(folders.filter((folder) => /(^|\/)(utils?|helpers?|common|misc|shared|lib)$/.test(folder))).toEqual([]);
    expect(all.map((file) => file.path).filter((path) => /\/(utils?|helpers?|common|misc)\.ts$/.test(path))).toEqual(
      [],
    );
  });

  it('have names in kebab-case', () => {
    expect(
      all.map((file) => file.path).filter((path) => !/^([a-z0-9.-]+\/)*[a-z0-9-]+(\.test|\.d)?\.tsx?$/.test(path)),
    ).toEqual([]);
  });

  it('are not too long', () => {
    const found = Object.fromEntries(
      all.map((file) => [file.path, file.lines.length] as const).filter(([, lines]) => lines > MAX_FILE_LINES),
    );
    expectShrinking(found, LONG_FILES, MAX_FILE_LINES);
  });

  it('have functions that are not too long', () => {
    const spans = all.flatMap((file) =>
      functionsOf(file).map(({ name, lines }) => [`${file.path} ${name}`, lines] as const),
    );
    expect(spans.length).toBeGreaterThan(500);
    expectShrinking(
      Object.fromEntries(spans.filter(([, lines]) => lines > MAX_FUNCTION_LINES)),
      LONG_FUNCTIONS,
      MAX_FUNCTION_LINES,
    );
  });

  it('have comments of at most 100 columns', () => {
    const isComment = (line: string) => /^\s*(\/\/|\/\*\*| \* )/.test(line) && !/biome-ignore|\/\/\/ </.test(line);
    const wide = all.flatMap(({ path, lines }) =>
      lines.flatMap((line, index) =>
        line.length > MAX_COMMENT_COLUMNS && isComment(line) ? [`${path}:${index + 1}`] : [],
      ),
    );
    expect(wide, `comments over ${MAX_COMMENT_COLUMNS} columns: wrap them`).toEqual([]);
  });

  it('contain no comments about work for later', () => {
    const marks = all.flatMap((file) =>
      file.lines.flatMap((line, i) =>
        /\b(TO[D]O|FIX[M]E|X[X]X|HAC[K])\b/.test(line) ? [`${file.path}:${i + 1}`] : [],
      ),
    );
    expect(marks).toEqual([]);
  });

  it('contain an expect call when they are tests', () => {
    const empty = tests.filter(
      (file) => file.path.endsWith('.test.ts') && !file.code.some((line) => /\bexpect\w*\(/.test(line)),
    );
    expect(empty.map((file) => file.path)).toEqual([]);
    expect(places(tests, /\b(it|describe|test)\.(only|todo)\(/)).toEqual([]);
  });
});
