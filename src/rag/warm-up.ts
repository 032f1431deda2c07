// Prepares, in steps, what the first question or check of a process needs: names of months, parsers
// of dates, and regular expressions, which V8 compiles when they are first used, and again when
// they are used for the second time. Together this takes some 200 ms. The service does this in the
// background after it has started; whoever asks earlier does it first.

import type { Steps } from '../schedule/steps.ts';
import { numbersOf, prepareNumbers } from './firewall/answer-numbers.ts';
import { loadMonths, timesIn } from './firewall/answer-times.ts';
import { firewallSteps } from './firewall/firewall.ts';
import { understanding } from './question/understand.ts';
import { loadDates } from './question/written-dates.ts';
import type { RetrievedEdge } from './retrieval/retrieved-edge.ts';
import { supportOf } from './support.ts';

/** Contains what most readers of questions look for. */
const QUESTION =
  'How many edges of node 1 and nodes 2, 3 with weight over 5 on 1 May 2020 or since yesterday at 12:30?';
/** Contains what the firewall looks for. */
const ANSWER =
  'Nodes 3 and 9 met on 2015-03-04 with weight 5 [HEDGE-1]. "The company" did not pay 42 dollars at 14:00 [HEDGE-1]. Why?';
const EDGE: RetrievedEdge = {
  edge_id: 1,
  hedge_tag: 'HEDGE-1',
  event_ts: 1_425_427_200,
  members: [3, 9, 17],
  weight: 5,
  mean_dist_m: null,
  formation: 'The company paid 42 dollars in 2019.',
  score: 1,
  why: [],
  properties: {},
};
/** Each expression is compiled at its first use, and to faster code at its second. */
const USES = 2;

let hasQuestions = false;
let hasChecks = false;

/** Prepares reading questions. */
export function* warmUpQuestions(): Steps<void> {
  if (hasQuestions) return;
  yield* loadDates();
  for (let use = 0; use < USES; use++) {
    yield* understanding(QUESTION, { name: 'edges', columns: [] }, 0);
    yield;
  }
  hasQuestions = true;
}

/** Prepares comparing sentences with edges. */
export function* warmUpChecks(): Steps<void> {
  if (hasChecks) return;
  yield* loadMonths();
  for (let use = 0; use < USES; use++) yield* prepareNumbers();
  for (let use = 0; use < USES; use++) {
    numbersOf('Twelve, 1,234 and IV');
    yield;
    timesIn('May 1, 2020, 2020-05-01 12:30 or yesterday', [2020]);
    yield;
    yield* firewallSteps(ANSWER, supportOf([EDGE], undefined));
  }
  hasChecks = true;
}
