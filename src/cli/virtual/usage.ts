// Defines as plain values how the commands of `hedgerow virtual` are called: their arguments, flags
// and help texts.

import { FORMATS, TIMES_FLAG } from '../query/formats.ts';
import type { VirtualTaskName } from './tasks.ts';

export interface VirtualUsage {
  readonly name: VirtualTaskName;
  readonly about: string;
  readonly args: readonly (readonly [name: string, about: string])[];
  /** Flags in addition to --url and --api-key. */
  readonly flags: readonly (readonly [flag: string, about: string])[];
}

const ID = ['<id>', 'id of the graph'] as const;
const QUERY = ['<query>', 'the query, or - to read it from stdin'] as const;
const SPEC = ['<file>', 'the spec as JSON, or - to read it from stdin'] as const;
const FORMAT = ['--format <format>', `${FORMATS.join(', ')} (default table on a terminal, else json)`] as const;
const JSON_FLAG = ['--json', 'the whole answer as JSON'] as const;
const LIMIT = ['--limit <number>', "maximum number of hyperedges; replaces the query's LIMIT"] as const;

export const VIRTUAL_USAGE: readonly VirtualUsage[] = [
  {
    name: 'backends',
    about: 'List the types of backends, and which of them are available.',
    args: [],
    flags: [FORMAT],
  },
  {
    name: 'propose',
    about: 'Propose a spec from the tables of a backend: the spec on stdout, the reasons on stderr.',
    args: [['[file]', 'the request as JSON (- for stdin), instead of flags that name the backend']],
    flags: [
      ['--path <file>', 'a file, or a pattern of files, below the folder for virtual graphs of the server'],
      ['--type <type>', 'duckdb, parquet, csv, json (default: from the ending of the file name)'],
      ['--dsn <name>', 'a PostgreSQL database: the NAME in HEDGEROW_VIRTUAL_DSN_<NAME> of the server'],
      ['--id <id>', 'id of the graph (default: derived from the file name)'],
      ['--name <text>', 'name of the graph'],
      ['--save', 'store the spec'],
      ['--use-llm', 'let the language model of the server refine the spec'],
      JSON_FLAG,
    ],
  },
  { name: 'list', about: 'List the graphs.', args: [], flags: [FORMAT] },
  { name: 'show', about: 'Show a spec as JSON.', args: [ID], flags: [] },
  { name: 'create', about: 'Store a spec.', args: [SPEC], flags: [JSON_FLAG] },
  { name: 'replace', about: 'Replace a spec; its version grows by one.', args: [ID, SPEC], flags: [JSON_FLAG] },
  { name: 'delete', about: 'Delete a spec. The data in its backend is not touched.', args: [ID], flags: [JSON_FLAG] },
  { name: 'clear-cache', about: 'Remove the cached results of a graph.', args: [ID], flags: [JSON_FLAG] },
  { name: 'introspect', about: 'Show the tables and columns of the backend.', args: [ID], flags: [FORMAT] },
  {
    name: 'compile',
    about: 'Show the SQL of a query and its plan without running it.',
    args: [ID, QUERY],
    flags: [JSON_FLAG],
  },
  {
    name: 'query',
    about: 'Run a query and write its hyperedges as they arrive.',
    args: [ID, QUERY],
    flags: [
      FORMAT,
      LIMIT,
      ['--refresh', 'ask the backend even if the result is cached'],
      ['--unordered', 'leave the result unsorted, which is faster if it is large'],
      ['--captured-at <time>', 'seconds since 1970, or ISO 8601, for the provenance (default 0)'],
      TIMES_FLAG,
    ],
  },
  {
    name: 'materialize',
    about: 'Copy the result of a query into a new table of the server, its vertices into node tables.',
    args: [ID, QUERY],
    flags: [
      ['--table <name>', 'name of the new table'],
      LIMIT,
      ['--bucket-seconds <number>', 'width of its time buckets (default 10)'],
      [
        '--ids <how>',
        'members become numbers, map: from 1, hash: 52 bits of a SHA-256 (default: nodes of node tables)',
      ],
      JSON_FLAG,
    ],
  },
];
