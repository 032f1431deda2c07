// Example request and answer bodies by operation id. Tests check each body against its schema.

import type { BodyExamples } from '../../http/index.ts';
import { DATA_EXAMPLES } from './data.ts';
import { MEMORY_EXAMPLES } from './memory.ts';
import { REASONING_EXAMPLES } from './reasoning.ts';
import { SERVICE_EXAMPLES } from './service.ts';
import { VIRTUAL_EXAMPLES } from './virtual.ts';

export const EXAMPLES: Readonly<Record<string, BodyExamples>> = {
  ...DATA_EXAMPLES,
  ...REASONING_EXAMPLES,
  ...MEMORY_EXAMPLES,
  ...VIRTUAL_EXAMPLES,
  ...SERVICE_EXAMPLES,
};
