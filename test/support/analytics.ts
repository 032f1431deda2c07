// Creates the analytics service of a test server, which computes on the test's own thread.

import { Analytics } from '../../src/analytics/index.ts';
import type { Database } from '../../src/engine/index.ts';

export function analyticsOf(database: Database): Analytics {
  return new Analytics({ database, threads: 1, moveAfterMs: Infinity });
}
