// The measures of a test server's database: computed in the test's own thread when its tables are small.

import { Analytics } from '../../src/analytics/index.ts';
import type { Database } from '../../src/engine/index.ts';

export function analyticsOf(database: Database): Analytics {
  return new Analytics({ database, threads: 1, moveAfterMs: Infinity });
}
