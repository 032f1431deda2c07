// What the demo learns of its own meetings while it makes them, and the first requests to try with it.

import { FIRST_DAY_TS, type Meeting } from './meetings.ts';

const NOON = 12 * 3600;
const HOUR = 3600;

export class DemoFacts {
  meetings = 0;
  /** Meetings by person. */
  readonly #counts: Uint32Array;

  constructor(people: number) {
    this.#counts = new Uint32Array(people + 1);
  }

  see({ members }: Meeting): void {
    this.meetings++;
    for (const person of members) this.#counts[person]!++;
  }

  /** Who met most often; the least number among equals. */
  get busiest(): number {
    let best = 1;
    for (let person = 2; person < this.#counts.length; person++) {
      if (this.#counts[person]! > this.#counts[best]!) best = person;
    }
    return best;
  }
}

export interface Invitation {
  url: string;
  table: string;
  /** The server asks for a key. */
  withKey: boolean;
  /** Set when no server has the data yet. */
  dir: string | undefined;
}

export function invitationText(facts: DemoFacts, { url, table, withKey, dir }: Invitation): string[] {
  const key = withKey ? ' -H "X-API-Key: $HEDGEROW_API_KEY"' : '';
  const json = `${key} -H 'Content-Type: application/json'`;
  const noonTs = FIRST_DAY_TS + NOON;
  const meeting = { table, event_ts: noonTs, members: [1, 2, facts.busiest], weight: 30, formation: 'lunch' };
  const steps: [string, string][] = [
    [
      `The first meetings of person ${facts.busiest}, who has the most of them:`,
      `curl${key} '${url}/v1/hyperedges/node/${facts.busiest}?table=${table}&limit=5'`,
    ],
    [
      'Who met over noon on the first Monday:',
      `curl${key} '${url}/v1/hyperedges?table=${table}&start_ts=${noonTs}&end_ts=${noonTs + HOUR - 1}&limit=5'`,
    ],
    ['Another meeting:', `curl${json} -d '${JSON.stringify(meeting)}' '${url}/v1/hyperedges'`],
    ['From log to segments:', `curl${json} -d '{"table":"${table}"}' '${url}/v1/hyperedges/compact'`],
  ];
  if (dir !== undefined) steps.unshift(['Serve it, in another terminal:', `hedgerow serve --data ${dir}`]);
  return steps.flatMap(([title, command]) => ['', title, `  ${command}`]);
}
