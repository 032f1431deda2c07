// Builds the text that the demo prints last: the console's address and requests to paste.

import { DAY_SECONDS, dateOf, dayOf, FIRST_DAY_TS } from './calendar.ts';
import type { Subject } from './facts.ts';
import { type DemoTables, HOME, TENANT } from './tables.ts';

export interface Invitation {
  url: string;
  tables: DemoTables;
  /** Whom the requests ask about. */
  subject: Subject;
  /** The key as the requests and the address show it; undefined to leave it out. */
  key: string | undefined;
}

/** A request of the invitation. */
export interface Step {
  readonly title: string;
  readonly path: string;
  /** Undefined: a GET request. */
  readonly body?: object;
}

const WEEK_DAYS = 7;
/**
 * The meetings of one person within this many days are few enough to be drawn as hulls around their
 * members.
 */
const DRAWN_DAYS = 3;
/** Number of edges to retrieve, few enough that a person can read the answer. */
const TOP_EDGES = 12;
const OF_AGE = 18;

/**
 * Returns the console's address with a statement to run, and with the key if there is one. The part
 * after `#` is never sent to a server, and the console removes it from the address at once. The
 * statement finds the meetings of the subject around the move.
 */
export function consoleAddress({ url, tables, subject, key }: Invitation): string {
  const { start, end } = drawnDays(subject);
  const when = `m.event_ts >= "${dateOf(start)}" AND m.event_ts < "${dateOf(end)}"`;
  return addressWith(
    `MATCH (m:${tables.meetings})\nWHERE "${subject.person}" IN m.members AND ${when}\nRETURN *`,
    url,
    key,
  );
}

/** Returns the console's address with this statement and a drawing of its result. */
export function addressWith(statement: string, url: string, key: string | undefined): string {
  const fields = { ...(key === undefined ? {} : { key }), statement, tab: 'graph' };
  return `${url}/#${new URLSearchParams(fields)}`;
}

export function invitationText({ url, tables, subject, key }: Invitation): string[] {
  const curl = key === undefined ? 'curl -s' : `curl -s -H "X-API-Key: ${key}"`;
  // Does not use --json, which curl before 7.82 lacks.
  const json = "-H 'Content-Type: application/json'";
  return invitationSteps(tables, subject).flatMap(({ title, path, body }) => {
    const command =
      body === undefined ? `${curl} '${url}${path}'` : `${curl} ${json} ${url}${path} -d '${JSON.stringify(body)}'`;
    return ['', title, `  ${command}`];
  });
}

/** Names hold no quotation marks, so they can be part of statements and of a shell's words. */
function invitationSteps(tables: DemoTables, subject: Subject): Step[] {
  const { person, busiest, oldHome } = subject;
  const { meetings, tenancies, places } = tables;
  const movedTs = dayOf(subject.movedTs);
  const { start, end } = drawnDays(subject);
  const month = new Date(movedTs * 1000).toLocaleString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
  const home = `/v1/hyperedges/node/${encodeURIComponent(oldHome)}`;
  return [
    {
      title: `Who lived at ${oldHome} in ${month}, asked in words (${person} moved from there on ${dateOf(movedTs)}):`,
      path: '/v1/rag/query',
      body: { query: `Who lived at ${oldHome} in ${month}?`, table: tenancies, mode: 'symbolic' },
    },
    {
      title: `Who lived there at the beginning of ${dateOf(movedTs)}:`,
      path: `${home}?table=${tenancies}&kind=${places}&at=${dateOf(movedTs)}&times=iso`,
    },
    {
      title: `Who came to ${person} as a guest, how old they are, and where they lived at that time:`,
      path: '/v1/query',
      body: { query: guestsStatement(person, tables), times: 'iso' },
    },
    {
      title: 'How many adults nobody invited in the first week, by district:',
      path: '/v1/query',
      body: { query: uninvitedStatement(tables) },
    },
    {
      title: `What at least two people from a meeting of ${busiest} do together within two hours after it, in the first week:`,
      path: '/v1/query',
      body: { query: togetherStatement(busiest, meetings) },
    },
    {
      title: 'Whose invitations are followed most (pagerank from guests to hosts):',
      path: `/v1/analytics/${meetings}/pagerank`,
      body: { params: { from: 'guest', to: 'host', top: 5 } },
    },
    {
      title: `Whom ${person} invited from which district, and what news came home, with the proof of each fact:`,
      path: '/v1/reason',
      body: { query: `${person} between ${dateOf(start)} and ${dateOf(end - 1)}`, table: meetings, top_k: TOP_EDGES },
    },
  ];
}

/** Returns the days around the move: when they begin, and when they have ended. */
function drawnDays({ movedTs }: Subject): { start: number; end: number } {
  const start = Math.max(FIRST_DAY_TS, dayOf(movedTs) - DAY_SECONDS);
  return { start, end: start + DRAWN_DAYS * DAY_SECONDS };
}

const FIRST_WEEK_END = dateOf(FIRST_DAY_TS + WEEK_DAYS * DAY_SECONDS);

function guestsStatement(person: string, { meetings, tenancies, people }: DemoTables): string {
  return (
    `MATCH (m:${meetings}), (g:${people}), (t:${tenancies}) ` +
    `WHERE "${person}" IN m.host AND g IN m.guest AND g IN t.${TENANT} AND holds(t, m.event_ts) ` +
    `RETURN m.event_ts, m.formation, m.place, g.name, g.age, t.${HOME} ORDER BY m.event_ts, g.name LIMIT 20`
  );
}

function uninvitedStatement({ meetings, people }: DemoTables): string {
  return (
    `MATCH (p:${people}) WHERE p.age >= ${OF_AGE} AND NOT EXISTS ((m:${meetings}) ` +
    `WHERE p IN m.guest AND m.event_ts < "${FIRST_WEEK_END}") ` +
    'RETURN p.district, COUNT(*) AS adults, AVG(p.age) AS age ORDER BY adults DESC'
  );
}

function togetherStatement(person: string, meetings: string): string {
  return (
    `MATCH (a:${meetings}), (b:${meetings}) WHERE "${person}" IN a.members AND a.event_ts < "${FIRST_WEEK_END}" ` +
    'AND follows(b, a, 7200) AND shared(a, b) >= 2 ' +
    'RETURN a.formation, b.formation, COUNT(*) AS times ORDER BY times DESC LIMIT 10'
  );
}
