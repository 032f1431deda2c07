// Prepares, in steps, what the first question or check of a process needs: names of months, parsers
// of dates, and regular expressions, which V8 compiles when they are first used. Together this
// takes some 150 ms. The longest steps are those that cannot be divided: loading chrono-node (20
// ms), the first use of Intl, the regular expression of written numbers, and reading a first
// question (15 ms each).

import type { Steps } from '../schedule/steps.ts';
import { numbersOf } from './firewall/answer-numbers.ts';
import { loadMonths, timesIn } from './firewall/answer-times.ts';
import { understand } from './question/understand.ts';
import { loadDates } from './question/written-dates.ts';

/** Contains what most readers of questions look for. */
const QUESTION =
  'How many edges of node 1 and nodes 2, 3 with weight over 5 on 1 May 2020 or since yesterday at 12:30?';

let hasQuestions = false;
let hasChecks = false;

/** Prepares reading questions. */
export function* warmUpQuestions(): Steps<void> {
  if (hasQuestions) return;
  yield* loadDates();
  understand(QUESTION, { name: 'edges', columns: [] }, 0);
  hasQuestions = true;
  yield;
}

/** Prepares comparing sentences with edges. */
export function* warmUpChecks(): Steps<void> {
  if (hasChecks) return;
  yield* loadMonths();
  numbersOf('Twelve, 1,234 and IV');
  yield;
  timesIn('May 1, 2020, 2020-05-01 12:30 or yesterday', [2020]);
  hasChecks = true;
  yield;
}
