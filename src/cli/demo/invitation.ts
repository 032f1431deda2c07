// What the demo says at its end: where the console is, and three requests to paste.

import { DAY_SECONDS, FIRST_DAY_TS } from './meetings.ts';

export interface Invitation {
  url: string;
  table: string;
  /** Whom to ask about. */
  person: number;
  /** As in the requests; undefined: none is needed. */
  key: string | undefined;
}

const WEEK_DAYS = 7;
/** A person's meetings of this many days can be drawn as hulls. */
const DRAWN_DAYS = 3;
const FIRST_WEEK = 'between 2024-01-01 and 2024-01-07';
/** Small enough that the answer can be read. */
const TOP_EDGES = 8;

/**
 * The console at something worth looking at; with a key, signed in. The part after the hash is sent
 * to no server, and the console takes it out of the address at once.
 */
export function consoleAddress({ url, table, person, key }: Invitation): string {
  const end = FIRST_DAY_TS + DRAWN_DAYS * DAY_SECONDS;
  const statement = `MATCH (e:${table})\nWHERE ${person} IN e.members AND e.event_ts < ${end}\nRETURN *`;
  const fields = { ...(key === undefined ? {} : { key }), statement, tab: 'graph' };
  return `${url}/#${new URLSearchParams(fields)}`;
}

export function invitationText({ url, table, person, key }: Invitation): string[] {
  const curl = key === undefined ? 'curl -s' : `curl -s -H "X-API-Key: ${key}"`;
  // Not --json, which curl before 7.82 lacks.
  const json = "-H 'Content-Type: application/json'";
  const post = (path: string, body: object) => `${curl} ${json} ${url}${path} -d '${JSON.stringify(body)}'`;
  const statement = `MATCH (a:${table}), (b:${table}) WHERE ${person} IN a.members AND a.event_ts < ${FIRST_DAY_TS + WEEK_DAYS * DAY_SECONDS} AND follows(b, a, 7200) AND shared(a, b) >= 2 RETURN a.formation, b.formation, COUNT(*) AS times ORDER BY times DESC LIMIT 10`;
  const steps: [string, string][] = [
    [
      `Who hears of what through person ${person}, with the proof of each fact:`,
      post('/v1/reason', { query: `node ${person} ${FIRST_WEEK}`, table, top_k: TOP_EDGES }),
    ],
    [
      `What two of those at a meeting of person ${person} do within the next two hours, in the first week:`,
      post('/v1/query', { query: statement }),
    ],
    [
      'Who stands in the middle of the town on the first Monday:',
      post(`/v1/analytics/${table}/pagerank`, {
        params: { start_ts: FIRST_DAY_TS, end_ts: FIRST_DAY_TS + DAY_SECONDS - 1, top: 5 },
      }),
    ],
  ];
  return steps.flatMap(([title, command]) => ['', title, `  ${command}`]);
}
