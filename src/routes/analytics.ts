// Routes for measures: one lists all measures, one computes a measure of a table.

import { type Analytics, type MeasureAnswer, measureNamed } from '../analytics/index.ts';
import { refusal } from '../errors.ts';
import {
  type AnswerText,
  type ChunkSource,
  invalidFields,
  JSON_BODY,
  JSON_FORMAT,
  JSON_TYPE,
  jsonReply,
  OPENINGS,
  queryObject,
  type Reply,
  writeAnswer,
} from '../http/index.ts';
import { parseJsonObject } from '../http/json-body.ts';
import { v } from '../http/schema.ts';
import { type Call, type Route, validated } from './application.ts';
import { watchClient } from './client-watch.ts';
import { measureAnswer, measureBody, measureItem, measureParameters, measureQuery } from './schemas/analytics.ts';

const list = validated({
  id: 'listMeasures',
  method: 'GET',
  path: '/v1/analytics',
  role: 'readonly',
  summary: 'All measures, with their parameters, the form of their results and their sources.',
  answers: { 200: v.array(measureItem) },
  handler: (_input, call) => jsonReply(200, requireAnalytics(call).measures()),
});

async function run(call: Call): Promise<Reply> {
  const analytics = requireAnalytics(call);
  const body = call.body.length === 0 ? {} : parseJsonObject(call);
  const [tableName, measureName] = call.parameters as [string, string];
  const { parameters, name } = measureNamed(measureName);
  const table = call.database.table(tableName);
  refuseMisplaced(body, name, new Set(parameters.map((parameter) => parameter.name)));
  const members = membersOf(call);
  const { now } = call.services;
  const timeoutMs = call.deadlineMs === Infinity ? 0 : Math.max(1, call.deadlineMs - now());
  const { signal, end } = watchClient(call);
  try {
    const answer = await analytics.open(table.name, name, body.params ?? undefined, { timeoutMs, signal, members });
    return await writeAnswer(call, new MeasureText(answer), OPENINGS.complete, false);
  } finally {
    end();
  }
}

export function requireAnalytics({ services }: Call): Analytics {
  if (services.analytics !== undefined) return services.analytics;
  throw refusal('starting', 'Measures are not ready yet. Try again shortly.');
}

/** Returns the form in which nodes of named tables are shown. Throws `invalid_input`. */
function membersOf(call: Call): 'numbers' | undefined {
  const { members } = queryObject(call.query);
  if (members === undefined || members === 'numbers') return members;
  throw invalidFields([{ loc: ['query', 'members'], msg: 'must be numbers' }]);
}

/**
 * Refuses parameters of the measure that are outside `params`, where they would be silently
 * ignored. Throws `invalid_input`.
 */
function refuseMisplaced(body: Record<string, unknown>, measure: string, names: ReadonlySet<string>): void {
  const misplaced = Object.keys(body).filter((name) => names.has(name) && body[name] !== null);
  if (misplaced.length === 0) return;
  const msg = `belongs into params, as in {"params": {"${misplaced[0]}": ...}}: it is a parameter of ${measure}`;
  throw invalidFields(misplaced.map((name) => ({ loc: ['body', name], msg })));
}

/**
 * The text of a measure's answer. The measure enforces the time limit itself: it throws if its
 * result is read too late.
 */
class MeasureText implements AnswerText {
  get work() {
    return 'measure' as const;
  }

  /** Not known in advance: `next` returns null at the end. */
  readonly isEnded = false;
  /** The measure writes the whole answer, including the parts around the values. */
  readonly format = JSON_FORMAT;
  readonly frame = undefined;
  readonly #answer: MeasureAnswer;

  constructor(answer: MeasureAnswer) {
    this.#answer = answer;
  }

  look(): void {}

  next(): Uint8Array | null {
    return this.#answer.next();
  }

  wait(resume: () => void): boolean {
    return this.#answer.wait(resume);
  }

  reply(body: Uint8Array | undefined, source: ChunkSource | undefined): Reply {
    return {
      status: 200,
      contentType: JSON_TYPE,
      body: body ?? '',
      lsn: this.#answer.lsn,
      headers: undefined,
      source,
      tag: undefined,
      facts: undefined,
    };
  }

  close(): void {
    this.#answer.close();
  }
}

const runMeasure: Route = {
  id: 'runMeasure',
  method: 'POST',
  path: '/v1/analytics/{table}/{measure}',
  role: 'readonly',
  summary: 'Compute a measure of a table.',
  database: true,
  data: true,
  negotiates: false,
  bodyOptional: true,
  tagged: false,
  rateExempt: false,
  idempotent: false,
  bodyTypes: JSON_BODY,
  schemas: { parameters: measureParameters, query: measureQuery, body: measureBody, answers: { 200: measureAnswer } },
  errors: [404, 500, 504],
  handler: run,
};

export const analyticsRoutes: readonly Route[] = [list, runMeasure];
