// Builds the text that the demo prints last: the console's address and three requests to paste.

import { DAY_SECONDS, FIRST_DAY_TS } from './meetings.ts';

export interface Invitation {
  url: string;
  table: string;
  /** The person that the requests ask about. */
  person: number;
  /** The key as the requests and the address show it; undefined to leave it out. */
  key: string | undefined;
}

const WEEK_DAYS = 7;
/**
 * The meetings of one person within this many days are few enough to be drawn as hulls around their
 * members.
 */
const DRAWN_DAYS = 3;
const FIRST_WEEK = 'between 2024-01-01 and 2024-01-07';
/** Number of edges to retrieve, few enough that a person can read the answer. */
const TOP_EDGES = 8;

/**
 * Returns the console's address with a statement to run, and with the key if there is one. The part
 * after `#` is never sent to a server, and the console removes it from the address at once.
 */
export function consoleAddress({ url, table, person, key }: Invitation): string {
  const end = FIRST_DAY_TS + DRAWN_DAYS * DAY_SECONDS;
  const statement = `MATCH (e:${table})\nWHERE ${person} IN e.members AND e.event_ts < ${end}\nRETURN *`;
  const fields = { ...(key === undefined ? {} : { key }), statement, tab: 'graph' };
  return `${url}/#${new URLSearchParams(fields)}`;
}

export function invitationText({ url, table, person, key }: Invitation): string[] {
  const curl = key === undefined ? 'curl -s' : `curl -s -H "X-API-Key: ${key}"`;
  // Does not use --json, which curl before 7.82 lacks.
  const json = "-H 'Content-Type: application/json'";
  const post = (path: string, body: object) => `${curl} ${json} ${url}${path} -d '${JSON.stringify(body)}'`;
  const statement = `MATCH (a:${table}), (b:${table}) WHERE ${person} IN a.members AND a.event_ts < ${FIRST_DAY_TS + WEEK_DAYS * DAY_SECONDS} AND follows(b, a, 7200) AND shared(a, b) >= 2 RETURN a.formation, b.formation, COUNT(*) AS times ORDER BY times DESC LIMIT 10`;
  const steps: [string, string][] = [
    [
      `Who hears of what through person ${person}, with the proof of each fact:`,
      post('/v1/reason', { query: `node ${person} ${FIRST_WEEK}`, table, top_k: TOP_EDGES }),
    ],
    [
      `What at least two people from a meeting of person ${person} do together within two hours after it, in the first week:`,
      post('/v1/query', { query: statement }),
    ],
    [
      'Who is most central in the town on the first Monday:',
      post(`/v1/analytics/${table}/pagerank`, {
        params: { start_ts: FIRST_DAY_TS, end_ts: FIRST_DAY_TS + DAY_SECONDS - 1, top: 5 },
      }),
    ],
  ];
  return steps.flatMap(([title, command]) => ['', title, `  ${command}`]);
}
