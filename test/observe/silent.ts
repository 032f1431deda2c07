// Makes a log that writes nowhere, for tests of code that needs a log.

import { createLogger } from '../../src/observe/log.ts';

export const SILENT_SERVICE_LOG = createLogger({
  format: 'json',
  level: 'error',
  now: () => new Date(0),
  write: () => {},
});
