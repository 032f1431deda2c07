// Defines the tools for what an agent remembers: store it, replace it, and read its history.

import { described, integer, tableName, text, v } from '../../http/schema.ts';
import { moment, object, rowLimit, secondsOf } from './arguments.ts';
import { fitting } from './bounded.ts';
import { answer, hint, more, seconds, time } from './outputs.ts';
import { timeText } from './shown.ts';
import { type Tool, tool } from './tool.ts';

const table = () => v.optional(described(tableName(), 'Only if memories are kept in another table than memories.'));
const keys = (sentence: string) => v.optional(described(v.array(text(), 'must be an array of names'), sentence));
const memoryId = (sentence: string) => described(integer(), sentence);
const source = () =>
  v.optional(described(text(), 'Where it comes from, as in "conversation of 2 May" or the name of a file.'));

/** Maximum number of memories that are recalled by default. */
const USUAL_RECALLED = 10;

/** Fields of a memory in an answer. */
const memoryEntries = {
  id: memoryId('For supersede and history.'),
  what: v.nullable(text()),
  who: v.array(text()),
  about: v.array(text()),
  event_ts: seconds(),
  time: described(time(), 'When it began to hold.'),
  end_ts: described(v.nullable(seconds()), 'When it stopped or stops holding; null if it holds without an end.'),
  end_time: time(),
  source: v.nullable(text()),
};

/** Returns a memory with readable times. */
function shown<M extends { event_ts: number; end_ts: number | null }>({ event_ts, end_ts, ...rest }: M) {
  const times = { event_ts, time: timeText(event_ts), end_ts, end_time: timeText(end_ts) };
  return { ...rest, ...times };
}

/** Returns the times that were given in epoch seconds; absent ones stay absent. */
function timesOf<Name extends string>(given: { readonly [name in Name]?: number | string | undefined }) {
  const times: { [name in Name]?: number } = {};
  for (const [name, moment] of Object.entries(given) as [Name, number | string | undefined][])
    if (moment !== undefined) times[name] = secondsOf(moment, name, 'first');
  return times;
}

const remember = tool({
  name: 'remember',
  title: 'Remember something',
  description:
    'Keep something for later conversations: a fact, a decision, a preference, an event. One sentence a call, which can be understood alone, with names instead of "he" or "it". who and about name the people and things, always by the same name, so that everything about one of them is found together; look with recall first. If it corrects or replaces something remembered before, use supersede.',
  writes: true,
  input: object({
    what: described(text(), 'The sentence to remember.'),
    who: keys('Names of those who say, do, decide or prefer it, as in ["Ada"].'),
    about: keys('Names of the people and things it is about, as in ["project Orion", "budget"]. Give who or about.'),
    when: v.optional(moment('Since when it holds, or when it happened; default now.')),
    until: v.optional(moment('When it stops holding, if that is known already.')),
    source: source(),
    table: table(),
  }),
  output: answer({ id: memoryId('Id of the memory.') }),
  run: async ({ when, until, ...memory }, { client }, signal) => {
    const { id } = await client.memory.remember({ ...memory, ...timesOf({ when, until }) }, { signal });
    return { id };
  },
});

const recall = tool({
  name: 'recall',
  title: 'Recall what was remembered',
  description:
    'What is remembered about a question and holds now, best first; look here before you answer from what you know of people, projects or agreements. Ask with the names and the words that the memory would contain. What was superseded does not come, except with at: what held at an earlier time. Without question, who and about: the newest memories.',
  input: object({
    question: v.optional(described(text(), 'A question or words, as in "budget of project Orion".')),
    who: keys('Only memories with one of these names in the role who.'),
    about: keys('Only memories with one of these names in the role about.'),
    at: v.optional(moment('What held at this time; default now.')),
    top_k: rowLimit('memories', USUAL_RECALLED),
    table: table(),
  }),
  output: answer({
    memories: described(
      v.array(
        v.strictObject({
          ...memoryEntries,
          why: described(v.array(text()), 'What has matched, with its rank: 1 is best.'),
        }),
      ),
      'Best first.',
    ),
    more: more(),
    hint: hint(),
  }),
  run: async ({ question, at, ...asked }, { client }, signal) => {
    const input = { ...asked, question, ...timesOf({ at }) };
    const { memories } = await client.memory.recall(input, { signal });
    const fits = fitting(memories.map(({ score: _, ...memory }) => shown(memory)));
    const left = memories.length - fits.length;
    return {
      memories: fits,
      more: left > 0,
      ...(memories.length === 0 ? { hint: NOTHING_RECALLED } : left > 0 ? { hint: notShown(left) } : {}),
    };
  },
});

function notShown(left: number): string {
  return `${left} memories that fit less are left out, because the answer would be too long: name who or about, or words of what you look for.`;
}

const NOTHING_RECALLED =
  'Nothing is remembered that fits and holds then. Names are compared exactly: leave who and about out, and put the names into question; history has what no longer holds.';

const supersede = tool({
  name: 'supersede',
  title: 'Replace something remembered',
  description:
    'Something remembered no longer holds: end it and remember what holds instead, in one step. Nothing is lost: history shows both, and recall with at shows what held at an earlier time. To only end a memory, or to delete it, use query: UPDATE memories SET end_ts = ... or DELETE FROM memories, WHERE id = ...',
  writes: true,
  destroys: true,
  input: object({
    id: memoryId('Id of the memory that no longer holds.'),
    what: described(text(), 'The sentence that holds instead.'),
    at: v.optional(moment('Since when; default now.')),
    who: keys('Default: those of the old memory.'),
    about: keys('Default: those of the old memory.'),
    until: v.optional(moment('When it stops holding, if that is known already.')),
    source: source(),
    table: table(),
  }),
  output: answer({
    id: memoryId('Id of the new memory.'),
    ended: memoryId('Id of the memory that has ended.'),
  }),
  run: async ({ at, until, ...successor }, { client }, signal) => {
    const { id, ended } = await client.memory.supersede({ ...successor, ...timesOf({ at, until }) }, { signal });
    return { id, ended };
  },
});

const history = tool({
  name: 'history',
  title: 'History of what was remembered',
  description:
    'Everything that was ever remembered about some people or things, also what no longer holds, oldest first, with what superseded what. With id: one memory with its earlier and later versions.',
  input: object({
    who: keys('Names in the role who, one of which the memory has.'),
    about: keys('Names in the role about, one of which the memory has.'),
    id: v.optional(memoryId('One memory, in place of who and about.')),
    limit: rowLimit('memories'),
    table: table(),
  }),
  output: answer({
    memories: described(
      v.array(
        v.strictObject({
          ...memoryEntries,
          supersedes: described(v.nullable(integer()), 'Id of the memory that it replaced.'),
          superseded_by: described(v.nullable(integer()), 'Id of the memory that replaced it.'),
        }),
      ),
      'Oldest first.',
    ),
    hint: hint(),
  }),
  run: async (input, { client }, signal) => {
    const { memories, truncated } = await client.memory.history(input, { signal });
    // The newest ones are more useful than the oldest.
    const fits = fitting(memories.map(shown).reverse()).reverse();
    const isCut = truncated || fits.length < memories.length;
    return { memories: fits, ...(isCut ? { hint: 'There are older ones: name who and about, or raise limit.' } : {}) };
  },
});

export const MEMORY_TOOLS: readonly Tool[] = [remember, recall, supersede, history];
