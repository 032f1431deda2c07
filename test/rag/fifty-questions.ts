// Defines fifty questions: 25 that the data answers, with the right answers, and 25 that it does
// not answer. The right answers were determined from the data before the code was written.

/**
 * The names of five people and their nodes. As after an import, nodes are numbers and the table
 * `calls_nodes` contains their names.
 */
export const PEOPLE: ReadonlyMap<string, number> = new Map([
  ['Ada', 101],
  ['Grace', 102],
  ['Linus', 103],
  ['Barbara', 104],
  ['Ken', 105],
]);

/** Ten calls. Each line has the time, the people, the minutes and the topic. Line n is edge n. */
export const CALLS = `
2024-03-04T09:00:00Z,Ada Grace,12,compilers
2024-03-04T11:30:00Z,Grace Linus,3,kernels
2024-04-10T09:15:00Z,Ada Linus,45,lunch and more
2024-05-01T10:00:00Z,Ada Grace,20,compilers
2024-05-14T14:00:00Z,Barbara Ken,7,budget
2024-06-03T08:00:00Z,Ada Barbara,30,budget
2024-06-21T16:45:00Z,Ken Linus,5,kernels
2024-06-21T18:00:00Z,Ada Grace,15,turtles
2024-07-02T12:00:00Z,Grace Ken Linus,60,conference
2024-07-09T12:30:00Z,Ada Ken,8,compilers
`
  .trim()
  .split('\n')
  .map((line) => {
    const [when, who, minutes, topic] = line.split(',') as [string, string, string, string];
    const members = who.split(' ').map((name) => PEOPLE.get(name)!);
    return { event_ts: Date.parse(when) / 1000, members, properties: { minutes: Number(minutes), topic } };
  });

/** The only rule for the questions. It derives who was in a call with whom. */
export const CALLED = {
  id: 'rule:called',
  name: 'who called whom',
  if: [{ pred: 'member', args: ['?E', '?A'] }, { pred: 'member', args: ['?E', '?B'] }, { compare: ['?A', '<', '?B'] }],
  then: { pred: 'called', args: ['?A', '?B'] },
};

export interface Answerable {
  readonly question: string;
  /**
   * The table that the question is about. `mails` is the file email-Enron in ../shared/data, where
   * line n is edge n. If the file is missing, its questions are skipped.
   */
  readonly table: 'calls' | 'mails';
  /** Texts that the answer must contain in every mode. */
  readonly says?: readonly string[];
  /** The edges that the answer must cite. It must not cite others. */
  readonly cites?: readonly number[];
  /** The edge that must be the first in the retrieved edges. */
  readonly best?: number;
  /**
   * A part of the statement or measure in the field `computed_by`, or null if the field must be
   * null.
   */
  readonly computed: string | null;
}

const of = (table: Answerable['table']) => (question: string, right: Omit<Answerable, 'question' | 'table'>) => ({
  question,
  table,
  ...right,
});
const calls = of('calls');
const mails = of('mails');

export const ANSWERABLE: readonly Answerable[] = [
  calls('How many calls did Ada make?', { says: ['6'], computed: 'COUNT(*)' }),
  calls('How many calls were there in June?', { says: ['3'], computed: 'COUNT(*)' }),
  calls('Who called most often?', { says: ['101', '6'], computed: 'node_degree' }),
  calls('With whom did Ada talk most often?', { says: ['102', '3'], computed: 'RETURN e.members' }),
  calls('What was the first call of Ken?', { says: ['2024-05-14T14:00:00Z', '104'], cites: [5], computed: 'ORDER BY' }),
  calls('When did Ada last call Grace?', { says: ['2024-06-21T18:00:00Z'], cites: [8], computed: 'ORDER BY' }),
  calls('What happened at lunch?', { cites: [3], computed: null }),
  calls('Which calls were about kernels?', { cites: [2, 7], computed: null }),
  calls('calls since 2024-07-01', { cites: [9, 10], computed: null }),
  calls('Which calls were made today?', { cites: [10], computed: null }),
  calls('How many calls have minutes > 20?', { says: ['3'], computed: 'COUNT(*)' }),
  calls('calls whose topic is budget', { cites: [5, 6], computed: null }),
  calls('What was said 1 week ago?', { cites: [9], computed: null }),
  calls('How many different people called?', { says: ['5'], computed: 'node_degree' }),
  calls('What did Ada and Linus talk about?', { best: 3, computed: null }),
  calls('Show me the first two calls', { cites: [1, 2], computed: null }),
  calls('What is the most common topic?', { says: ['compilers', '3'], computed: 'COUNT(*)' }),
  calls('When was the last call about kernels?', {
    says: ['2024-06-21T16:45:00Z'],
    cites: [7],
    computed: 'ORDER BY',
  }),
  calls('Did Ken speak in May 2024?', { cites: [5], computed: null }),
  calls('Whom did Barbara call?', { cites: [5, 6], computed: null }),
  mails('How many mails are there?', { says: ['10883'], computed: 'COUNT(*)' }),
  mails('How many mails did node 37 get in 2001?', { says: ['99'], computed: 'COUNT(*)' }),
  mails('Which node is in the most mails?', { says: ['20', '1327'], computed: 'node_degree' }),
  mails('When was the first mail of node 12?', {
    says: ['1999-01-21T12:55:00Z', '56'],
    cites: [645],
    computed: 'ORDER BY',
  }),
  mails('How many mails were there in June?', { says: ['3'], computed: 'COUNT(*)' }),
];

/** Questions about the calls that the calls do not answer, or that have a false premise. */
export const NOT_ANSWERABLE: readonly string[] = [
  'What is the capital of France?',
  'Who wrote Hamlet?',
  'How tall is Mount Everest?',
  'What did node 999 do?',
  'How many calls did node 999 make?',
  'Tell me a joke',
  'Translate "good morning" into German',
  'What is the weather in Oslo?',
  'Who is Zebulon?',
  'What happened at breakfast?',
  'What happened in 1999?',
  'calls about penguins',
  'Why is the sky blue?',
  'nodes 500 and 501',
  'What is 2 plus 2?',
  'How old is the pope?',
  'calls where minutes > 500',
  'topic is astronomy',
  'Who are you?',
  'asdf qwerty',
  'What did Edsger say?',
  'When did node 7 last call node 8?',
  'How often did the unicorn meet the dragon?',
  '¿Cuál es la capital de Francia?',
  'What colour is my car?',
];
