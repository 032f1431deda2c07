// Reads conversations with dated turns, and questions with the turns in which their answers stand,
// in the format of LoCoMo (Maharana et al., Evaluating Very Long-Term Conversational Memory of LLM
// Agents, ACL 2024): a list of samples, or one sample.

import { readFileSync } from 'node:fs';

export interface Turn {
  /** `D3:12`: session and place. */
  readonly id: string;
  readonly session: string;
  readonly speaker: string;
  /** What was said, and after it the caption of a picture that was shown. */
  readonly text: string;
  /** Epoch seconds: that of the session, and a second more for each turn before it. */
  readonly time: number;
}

export interface Question {
  readonly text: string;
  readonly kind: Kind;
  /** Ids of turns, at least one. */
  readonly evidence: readonly string[];
}

export interface Conversation {
  readonly id: string;
  readonly turns: readonly Turn[];
  readonly questions: readonly Question[];
}

/** Kinds of questions by their number in the file. */
const KINDS = {
  1: 'multi-hop',
  2: 'temporal',
  3: 'open-domain',
  4: 'single-hop',
  5: 'adversarial',
} as const;
export type Kind = (typeof KINDS)[keyof typeof KINDS];
export const KIND_NAMES = Object.values(KINDS);

interface Sample {
  sample_id?: string;
  conversation: Record<string, unknown>;
  qa: { question: string; evidence?: unknown[]; category: keyof typeof KINDS }[];
}
interface GivenTurn {
  speaker: string;
  dia_id: string;
  text: string;
  blip_caption?: string;
}

/** Reads a file. Questions without a turn that exists are left out. */
export function readConversations(file: string): Conversation[] {
  const read = JSON.parse(readFileSync(file, 'utf8')) as Sample | Sample[];
  return (Array.isArray(read) ? read : [read]).map((sample, place) => {
    const turns = turnsOf(sample);
    const ids = new Set(turns.map(({ id }) => id));
    const questions = sample.qa.flatMap(({ question, evidence = [], category }): Question[] => {
      const known = [...new Set(evidence.flatMap(idsIn))].filter((id) => ids.has(id));
      return known.length === 0 ? [] : [{ text: question, kind: KINDS[category], evidence: known }];
    });
    return { id: sample.sample_id ?? `conversation ${place + 1}`, turns, questions };
  });
}

function turnsOf({ conversation }: Sample): Turn[] {
  const turns: Turn[] = [];
  for (let session = 1; `session_${session}_date_time` in conversation; session++) {
    const begin = timeOf(conversation[`session_${session}_date_time`] as string);
    const given = (conversation[`session_${session}`] ?? []) as GivenTurn[];
    for (const [place, { speaker, dia_id, text, blip_caption }] of given.entries())
      turns.push({
        id: idsIn(dia_id)[0] ?? dia_id,
        session: `session ${session}`,
        speaker,
        text: blip_caption === undefined ? text : `${text} (${blip_caption})`,
        time: begin + place,
      });
  }
  return turns;
}

/** Returns the ids in a text such as `D8:6; D9:17`. */
function idsIn(text: unknown): string[] {
  return [...String(text).matchAll(/D:?(\d+):(\d+)/g)].map(
    ([, session, turn]) => `D${Number(session)}:${Number(turn)}`,
  );
}

/** Reads `1:56 pm on 8 May, 2023`, as UTC. */
function timeOf(text: string): number {
  const [clock, day] = text.split(' on ');
  const time = Date.parse(`${day!.replace(',', '')} ${clock} UTC`);
  if (Number.isNaN(time)) throw new Error(`no time: ${text}`);
  return time / 1000;
}
