// Example bodies for memories.

import type { BodyExamples } from '../../http/index.ts';

const OLD = {
  id: 1,
  what: 'The budget of project Orion is 40,000 euros.',
  who: ['Ada'],
  about: ['project Orion', 'budget'],
  event_ts: 1714608000,
  end_ts: 1717200000,
  source: 'meeting of 2 May',
};
const NEW = {
  ...OLD,
  id: 2,
  what: 'The budget of project Orion is 55,000 euros.',
  event_ts: 1717200000,
  end_ts: null,
  source: null,
};

export const MEMORY_EXAMPLES: Readonly<Record<string, BodyExamples>> = {
  remember: {
    body: {
      what: OLD.what,
      who: OLD.who,
      about: OLD.about,
      when: '2024-05-02',
      source: OLD.source,
    },
    answer: { id: 1 },
  },
  supersede: {
    body: { id: 1, what: NEW.what, at: '2024-06-01' },
    answer: { id: 2, ended: 1 },
  },
  recall: {
    body: { question: 'What is the budget of project Orion?' },
    answer: {
      memories: [{ ...NEW, score: 1, why: ['words: budget, project, orion (rank 1)', 'time', 'recency (rank 1)'] }],
    },
  },
  memoryHistory: {
    body: { about: ['project Orion'] },
    answer: {
      memories: [
        { ...OLD, supersedes: null, superseded_by: 2 },
        { ...NEW, supersedes: 1, superseded_by: null },
      ],
      truncated: false,
    },
  },
};
