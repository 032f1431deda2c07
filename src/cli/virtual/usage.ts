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
const LIMIT = ['--limit <number>', "most hyperedges; takes the place of the query's LIMIT"] as const;

export const VIRTUAL_USAGE: readonly VirtualUsage[] = [
  { name: 'backends', about: 'The types of backends, and which are there.', args: [], flags: [FORMAT] },
  {
    name: 'propose',
    about: 'Propose a spec from the tables of a backend: the spec on stdout, the reasons on stderr.',
    args: [['[file]', 'the request as JSON, - for stdin; instead of the flags that name the backend']],
    flags: [
      ['--path <file>', 'a file, or a pattern of files, below the folder for virtual graphs of the server'],
      ['--type <type>', 'duckdb, parquet, csv, json (default: as the name of the file ends)'],
      ['--dsn <name>', 'a PostgreSQL database: the NAME of HEDGEROW_VIRTUAL_DSN_<NAME> of the server'],
      ['--id <id>', 'id of the graph (default: made of the name of the file)'],
      ['--name <text>', 'name of the graph'],
      ['--save', 'store the spec'],
      ['--use-llm', 'let the language model of the server refine it'],
      JSON_FLAG,
    ],
  },
  { name: 'list', about: 'List the graphs.', args: [], flags: [FORMAT] },
  { name: 'show', about: 'Show a spec as JSON.', args: [ID], flags: [] },
  { name: 'create', about: 'Store a spec.', args: [SPEC], flags: [JSON_FLAG] },
  { name: 'replace', about: 'Replace a spec; its version grows by one.', args: [ID, SPEC], flags: [JSON_FLAG] },
  { name: 'delete', about: 'Delete a spec. The data of its backend does not change.', args: [ID], flags: [JSON_FLAG] },
  { name: 'clear-cache', about: 'Remove the cached results of a graph.', args: [ID], flags: [JSON_FLAG] },
  { name: 'introspect', about: 'Tables and columns of the backend.', args: [ID], flags: [FORMAT] },
  { name: 'compile', about: 'The SQL of a query and its plan; runs nothing.', args: [ID, QUERY], flags: [JSON_FLAG] },
  {
    name: 'query',
    about: 'Run a query and write its hyperedges as they come.',
    args: [ID, QUERY],
    flags: [
      FORMAT,
      LIMIT,
      ['--refresh', 'ask the backend even when the result is kept'],
      ['--unordered', 'in no order: spares large results the sort'],
      ['--captured-at <time>', 'seconds since 1970, or ISO 8601, for the provenance (default 0)'],
      TIMES_FLAG,
    ],
  },
  {
    name: 'materialize',
    about: 'Copy the result of a query into a new table of the server, its vertices into TABLE_nodes.',
    args: [ID, QUERY],
    flags: [
      ['--table <name>', 'name of the new table'],
      LIMIT,
      ['--bucket-seconds <number>', 'width of its time buckets (default 10)'],
      ['--ids <how>', 'map: nodes are counted from 1 (default); hash: 52 bits of a SHA-256'],
      JSON_FLAG,
    ],
  },
];
