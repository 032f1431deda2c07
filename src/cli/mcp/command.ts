// `hedgerow mcp`: offers a database to a language model as tools of the Model Context Protocol,
// over standard input and output.

import type { Readable, Writable } from 'node:stream';
import { HedgerowApiError } from '../../client/index.ts';
import { Semaphore } from '../../schedule/locks.ts';
import { VERSION } from '../../version.ts';
import type { RunnerFlags } from '../query/options.ts';
import { errorText } from '../run/error-text.ts';
import { reportFailure, type World } from '../world.ts';
import { answerOf } from './answer.ts';
import { EDGE_TOOLS } from './edge-tools.ts';
import { MEASURE_TOOLS } from './measure-tools.ts';
import { MEMORY_TOOLS } from './memory-tools.ts';
import { NODE_TOOLS } from './node-tools.ts';
import { openPlace } from './place.ts';
import { REASONING_TOOLS } from './reasoning-tools.ts';
import { ROW_TOOLS } from './row-tools.ts';
import { loadSdk, type Offer } from './sdk.ts';
import { descriptionOf, TABLE_TOOLS } from './table-tools.ts';
import { shownTool, type Toolbox } from './tool.ts';

export interface McpFlags extends RunnerFlags {
  allowWrites?: boolean | undefined;
}

const TOOLS = [
  ...TABLE_TOOLS,
  ...ROW_TOOLS,
  ...EDGE_TOOLS,
  ...NODE_TOOLS,
  ...MEASURE_TOOLS,
  ...REASONING_TOOLS,
  ...MEMORY_TOOLS,
];

const INSTRUCTIONS = `Hedgerow is a temporal hypergraph database. A row of a table is a hyperedge: a moment (event_ts, epoch seconds UTC), a set of members (nodes) and properties (weight, mean_dist_m, formation, user columns). Begin with list_tables and describe_table. Where list_tables shows nodes "named", members are keys of nodes, which are their names: every argument that takes a node takes its key, and answers show keys; list_node_tables, list_nodes and read_node show nodes with their attributes. In other tables nodes are numbers; where names_in is shown, every argument that takes a node takes its number or its name, and answers show names beside numbers. Use range for a time window, node for the edges of one node, query for everything else about rows, run_measure for the structure of the whole (who is central, which groups there are, when it is busy), reason for facts that follow from rules, with proofs, ask for an answer in words. recall and history read what agents have remembered in earlier conversations, and remember and supersede, where they are offered, keep it. Times are epoch seconds with ISO 8601 (UTC) beside; arguments accept both. Answers are shortened to a readable size: more and hint say how to get the rest.`;

const ON_A_TERMINAL =
  'hedgerow: waits for messages of the Model Context Protocol on stdin. An agent starts this command by itself: add it to the configuration of your agent (README, Agents). Ctrl-C ends it.\n';

/** Prefix of the URIs of resources that describe tables. */
const TABLE_URI = 'hedgerow://tables/';
const JSON_TYPE = 'application/json';
/** Maximum number of calls that run at the same time. Further calls wait in order. */
const MOST_AT_ONCE = 16;

/**
 * Resolves with the exit code after the client has disconnected: 0 on success, 1 on failure, 2 for
 * a wrong call. Writes only messages of the protocol to stdout.
 */
export async function mcpCommand(flags: McpFlags, world: World): Promise<number> {
  try {
    const sdk = await loadSdk();
    const allowWrites = flags.allowWrites === true;
    const { client, close } = await openPlace(flags, allowWrites, world);
    try {
      // Both are the streams of this process; the protocol needs their events.
      const [input, output] = [world.stdin as unknown as Readable, world.stdout as unknown as Writable];
      if (world.stdin.isTTY) world.stderr.write(ON_A_TERMINAL);
      const session = await sdk.serve(offerOf({ client, allowWrites }), input, output);
      const forget = world.onInterrupt(() => void session.close());
      await session.ended;
      forget();
    } finally {
      await close();
    }
    return 0;
  } catch (error) {
    return reportFailure(world, error);
  }
}

function offerOf(toolbox: Toolbox): Offer {
  const { client, allowWrites } = toolbox;
  const places = new Semaphore(MOST_AT_ONCE);
  const tools = TOOLS.filter(({ writes }) => allowWrites || writes !== true);
  return {
    name: 'hedgerow',
    version: VERSION,
    instructions: INSTRUCTIONS,
    tools,
    shown: tools.map((one) => shownTool(one, allowWrites)),
    call: (tool, given, signal) => places.run(() => answerOf(tool, given, toolbox, signal), signal),
    resources: (signal) =>
      plainly(async () => {
        const tables = await client.tables.list({ signal });
        return tables.map(({ name, row_count }) => ({
          uri: `${TABLE_URI}${name}`,
          name,
          description: `Columns, indexes, times and some rows of the table ${name} (${row_count} rows).`,
          mimeType: JSON_TYPE,
        }));
      }),
    templates: [
      {
        uriTemplate: `${TABLE_URI}{name}`,
        name: 'table',
        description: 'Columns, indexes, times and some rows of a table.',
        mimeType: JSON_TYPE,
      },
    ],
    read: async (uri, signal) => {
      if (!uri.startsWith(TABLE_URI)) return undefined;
      try {
        return JSON.stringify(await descriptionOf(client, uri.slice(TABLE_URI.length), signal));
      } catch (error) {
        if (error instanceof HedgerowApiError && error.code === 'table_not_found') return undefined;
        throw new Error(sentenceOf(error));
      }
    },
  };
}

/** Does the work, and rethrows an error as one sentence, like the errors of tools. */
async function plainly<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(sentenceOf(error));
  }
}

function sentenceOf(error: unknown): string {
  return errorText(error, '').trimEnd();
}
