// Schemas of memories: of requests that store, replace and read them, and of their answers.

import {
  answeredTime,
  described,
  finite,
  identifier,
  integer,
  integerWithin,
  tableName,
  text,
  time,
  times,
  titled,
  v,
} from '../../http/schema.ts';
import { FORMAT_MAX_MEMBERS } from '../../limits.ts';
import { question } from './rag-parse.ts';

export const DEFAULT_VERSIONS = 1000;
const MOST_VERSIONS = 10_000;
export const DEFAULT_TOP_K = 10;
const MOST_RECALLED = 1000;

const keys = (sentence: string) =>
  v.optional(
    described(
      v.pipe(
        v.array(text(), 'must be an array of keys, which are texts'),
        v.maxLength(FORMAT_MAX_MEMBERS, `must hold at most ${FORMAT_MAX_MEMBERS} keys`),
      ),
      sentence,
    ),
  );

const table = () => v.optional(described(tableName(), 'A table of memories; default `memories`.'));
const source = () => v.optional(described(text(), 'Where it comes from: a document, a conversation, a tool.'));
const until = (begin: string) =>
  v.optional(described(time(), `When it stops holding, if that is known; not before ${begin}.`));

export const rememberBody = v.pipe(
  v.object({
    table: v.optional(
      described(
        identifier(),
        'Default `memories`. A table that does not exist is created, with the node table `things` if there is none.',
      ),
    ),
    what: described(text(), 'What is to be remembered, in a sentence that can be understood alone. At most 64 KB.'),
    who: keys('Keys of those who say, do or believe it. A key that nobody has used makes a node.'),
    about: keys('Keys of what it is about. At least one of `who` and `about` names something.'),
    when: v.optional(described(time(), 'When it begins to hold; default now.')),
    until: until('`when`'),
    source: source(),
  }),
  v.examples([
    {
      what: 'The budget of project Orion is 40,000 euros.',
      who: ['Ada'],
      about: ['project Orion', 'budget'],
      when: '2024-05-02',
      source: 'meeting of 2 May',
    },
  ]),
);

export const rememberAnswer = v.object({ id: described(integer(), 'Id of the memory.') });

export const supersedeBody = v.pipe(
  v.object({
    table: table(),
    id: described(integer(), 'The memory that is replaced. It must hold at `at` and have no successor.'),
    what: described(text(), 'What holds instead.'),
    at: v.optional(described(time(), 'When the old memory ends and the new one begins; default now.')),
    who: keys('Default: those of the old memory.'),
    about: keys('Default: those of the old memory.'),
    until: until('`at`'),
    source: source(),
  }),
  v.examples([{ id: 1, what: 'The budget of project Orion is 55,000 euros.', at: '2024-06-01' }]),
);

export const supersedeAnswer = v.object({
  id: described(integer(), 'Id of the new memory.'),
  ended: described(integer(), 'Id of the memory that has ended.'),
});

const memoryEntries = {
  id: integer(),
  what: described(v.nullable(text()), 'null only in an edge that was not stored by `remember`.'),
  who: v.array(text()),
  about: v.array(text()),
  event_ts: described(answeredTime(), 'When it begins to hold.'),
  end_ts: described(v.nullable(answeredTime()), 'When it stops holding; null if it still holds.'),
  source: v.nullable(text()),
};

export const recallBody = v.pipe(
  v.object({
    table: table(),
    question: v.optional(
      described(question(), 'Words and names rank the memories; without any, the newest come first.'),
    ),
    who: keys('Only memories with at least one of these in the role `who`.'),
    about: keys('Only memories with at least one of these in the role `about`.'),
    at: v.optional(described(time(), 'Only memories that hold at this time; default now.')),
    top_k: v.optional(
      described(integerWithin(1, MOST_RECALLED), `Maximum number of memories; default ${DEFAULT_TOP_K}.`),
    ),
    times: times(),
  }),
  v.examples([{ question: 'What is the budget of project Orion?' }]),
);

export const recallAnswer = v.object({
  memories: described(
    v.array(
      titled(
        v.object({
          ...memoryEntries,
          score: described(finite(), 'From 0 to 1; higher is better.'),
          why: described(v.array(v.string()), 'What has matched, with its rank.'),
        }),
        'RecalledMemory',
      ),
    ),
    'Best first.',
  ),
});

export const historyBody = v.pipe(
  v.object({
    table: table(),
    who: keys('Memories with at least one of these in the role `who`, and their other versions.'),
    about: keys('The same for the role `about`.'),
    id: v.optional(described(integer(), 'One memory with its earlier and later versions, in place of who and about.')),
    limit: v.optional(
      described(
        integerWithin(1, MOST_VERSIONS),
        `Maximum number of versions, the newest that name these things; default ${DEFAULT_VERSIONS}.`,
      ),
    ),
    times: times(),
  }),
  v.examples([{ about: ['project Orion'] }]),
);

export const historyAnswer = v.object({
  memories: described(
    v.array(
      titled(
        v.object({
          ...memoryEntries,
          supersedes: described(v.nullable(integer()), 'Id of the memory that it replaced.'),
          superseded_by: described(v.nullable(integer()), 'Id of the memory that replaced it.'),
        }),
        'MemoryVersion',
      ),
    ),
    'Oldest first.',
  ),
  truncated: described(v.boolean(), 'True if there are more versions.'),
});
