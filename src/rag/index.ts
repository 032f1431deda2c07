// Entry point of reasoning. It finds the edges that a question means, derives facts from them by
// rules, and answers in sentences that these edges and facts support.

import type { Database, Table } from '../engine/index.ts';
import { type ErrorFields, HedgerowError, refusal, type SettingKey } from '../errors.ts';
import {
  createChatModel,
  createMockModel,
  isSameAddress,
  keyFor,
  type LanguageModel,
  loadTokens,
} from '../llm/index.ts';
import { EmbeddedStatements } from '../query/index.ts';
import { enabledOf, type RuleSet, RuleStore, readRuleSetSteps } from '../rules/index.ts';
import type { CheckResult } from './check-claims.ts';
import type { RunMeasure } from './computed.ts';
import { edgeClaims, namesOf } from './edge-claims.ts';
import { Interactions } from './interactions.ts';
import { keptInteraction } from './kept-interaction.ts';
import { answerQuestion, reason, type Tools } from './pipeline.ts';
import type { AnsweredQuestion } from './question/question.ts';
import type {
  Answered,
  CheckRequest,
  RagRequest,
  RagResult,
  ReasonRequest,
  ReasonResult,
  StepRunner,
} from './request.ts';
import { MemberKeys } from './retrieval/member-keys.ts';
import { answeredQuestion, retrieve } from './retrieval/retrieve.ts';
import { ReasoningRoom } from './room.ts';
import { Stopwatch } from './stopwatch.ts';
import { warmUpChecks, warmUpQuestions } from './warm-up.ts';

export type { CheckResult, ClaimVerdict } from './check-claims.ts';
export type { RunMeasure } from './computed.ts';
export type { Derived } from './derived.ts';
export { edgeClaims } from './edge-claims.ts';
export type { AnsweredQuestion, Question } from './question/question.ts';
export {
  type Answered,
  type CheckRequest,
  MODES,
  type RagRequest,
  type RagResult,
  type ReasonRequest,
  type ReasonResult,
  type StepRunner,
} from './request.ts';
export { MemberKeys } from './retrieval/member-keys.ts';
export { type Recalled, type RecallRequest, recallEdges } from './retrieval/recall.ts';
export type { RetrievedEdge } from './retrieval/retrieved-edge.ts';

import type { Steps } from '../schedule/steps.ts';

/** The configured language model. */
export interface ModelSettings {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | undefined;
  /** Hosts to which requests may be sent: names or addresses, each with or without a port. */
  readonly allowedHosts: readonly string[];
}

export interface ReasoningOptions {
  database: Database;
  model: ModelSettings;
  /** Returns the time in epoch milliseconds. */
  now: () => number;
  /** Returns the milliseconds of a monotonic clock. */
  monotonicMs: () => number;
  /** Returns a new id that is hard to guess. */
  newId: () => string;
  /** Counts nodes over whole tables; if omitted, a statement reads all edges instead. */
  measure?: RunMeasure | undefined;
}

export class Reasoning {
  readonly rules: RuleStore;
  /**
   * Callers enter this room before a question is answered, and leave it after sending the answer.
   */
  readonly room = new ReasoningRoom();
  readonly #options: ReasoningOptions;
  readonly #interactions = new Interactions();
  readonly #statements: EmbeddedStatements;
  /** Runs the questions of callers that do not pass a runner. */
  readonly #runner: StepRunner;
  /** The enabled rules, and the stored set they were derived from. */
  #enabled: { stored: RuleSet; enabled: RuleSet } | undefined;

  /** Throws `corrupt` if the stored rules are not a valid rule set. */
  constructor(options: ReasoningOptions) {
    this.#options = options;
    this.#statements = new EmbeddedStatements({ database: options.database });
    const { scheduler } = options.database;
    this.#runner = { run: (steps) => scheduler.drive('reasoning', steps), signal: new AbortController().signal };
    this.rules = new RuleStore(options.database.documents);
  }

  /**
   * Prepares the first question and the first check in the background, so that they need not. Some
   * 200 ms of work and 25 MB. The tokens, which take more, are still loaded by the first question
   * that counts them.
   */
  async warmUp(): Promise<void> {
    await this.#runner.run(warmUpQuestions());
    await this.#runner.run(warmUpChecks());
  }

  /**
   * Returns how retrieval understands a question, including the words that matched nothing. Rejects
   * with `table_not_found`, `table_corrupt`, and the errors from the runner.
   */
  async parse(query: string, tableName: string | undefined, runner = this.#runner): Promise<AnsweredQuestion> {
    const table = this.#options.database.table(tableName);
    const { database, now } = this.#options;
    const keys = MemberKeys.of(table, database.nodes);
    const options = { topK: 1, nowMs: now(), names: namesOf(database, table), keys };
    await runner.run(warmUpQuestions());
    return answeredQuestion(await runner.run(retrieve(table, query, options)), keys);
  }

  /**
   * Answers a request without a model. Rejects with `invalid_input` (also for an unknown table),
   * `invalid_rule`, `too_many_facts`, `table_corrupt`, and the errors from the runner.
   */
  async reason(request: ReasonRequest, runner = this.#runner): Promise<Answered<ReasonResult>> {
    const table = this.#tableToReason(request.table);
    const rules = await runner.run(this.#rulesOf(request.rules));
    await runner.run(warmUpQuestions());
    return reason(request, this.#tools(table, rules, undefined, runner));
  }

  /**
   * Answers a question in the requested mode. `keyId` identifies the API key that owns the
   * interaction. Rejects like `reason`, except that an unknown table gives `table_not_found`. Also
   * rejects with `invalid_model_address` and `model_failed`.
   */
  async ask(request: RagRequest, runner = this.#runner, keyId: string | null = null): Promise<Answered<RagResult>> {
    const table = this.#options.database.table(request.table);
    // Rules are read in every mode, so that invalid rules are reported even if they are not used.
    const rules = await runner.run(this.#rulesOf(request.rules));
    const model = request.mode === 'symbolic' ? undefined : this.#modelOf(request);
    await runner.run(warmUpQuestions());
    await runner.run(warmUpChecks());
    await runner.run(tokens());
    const tools = this.#tools(table, request.mode === 'neuro' ? undefined : rules, model, runner);
    const answer = await answerQuestion(request, tools);
    const kept = await runner.run(keptInteraction(request, answer, this.#options.now(), tools.keys));
    await this.#interactions.keep(answer.result.interaction_id, kept, keyId);
    return answer;
  }

  /**
   * Uses the firewall to check a text or claims against edges in a table. Rejects with
   * `table_not_found`, `table_corrupt`, and the errors from the runner.
   */
  async check(request: CheckRequest, runner = this.#runner): Promise<CheckResult> {
    await runner.run(warmUpChecks());
    return edgeClaims(this.#options.database, request, runner, this.#statements);
  }

  /**
   * Returns an interaction as JSON text. If `keyId` is given, the question must have been asked
   * with that key. Rejects with `interaction_not_found`.
   */
  interaction(id: string, keyId?: string | null): Promise<string> {
    return this.#interactions.text(id, keyId);
  }

  /** Returns whether an address has the scheme, host, port and path of the configured model. */
  isConfiguredModel(baseUrl: string): boolean {
    return isSameAddress(baseUrl, this.#options.model.baseUrl);
  }

  /**
   * Loads the data that questions need, before the stages of the first question are timed. The data
   * is not loaded at startup, because it takes 35 MB, and a service that is asked no questions does
   * not need it.
   */
  #tools(table: Table, rules: RuleSet | undefined, model: LanguageModel | undefined, runner: StepRunner): Tools {
    const { database, now, monotonicMs, newId, measure } = this.#options;
    const [names, statements] = [namesOf(database, table), this.#statements];
    return {
      database,
      keys: MemberKeys.of(table, database.nodes),
      names,
      statements,
      measure,
      table,
      rules,
      model,
      runner,
      nowMs: now,
      stopwatch: new Stopwatch(monotonicMs),
      newId,
    };
  }

  #tableToReason(name: string | undefined): Table {
    try {
      return this.#options.database.table(name);
    } catch (error) {
      if (!(error instanceof HedgerowError) || error.code !== 'table_not_found') throw error;
      throw refusal('invalid_input', error.message, {
        errors: [{ loc: ['body', 'table'], msg: 'must be the name of a table' }],
      });
    }
  }

  *#rulesOf(given: readonly unknown[] | undefined): Steps<RuleSet> {
    if (given !== undefined) return enabledOf(yield* readRuleSetSteps(given, ['body', 'rules']));
    const stored = this.rules.set();
    if (this.#enabled?.stored !== stored) this.#enabled = { stored, enabled: enabledOf(stored) };
    return this.#enabled.enabled;
  }

  #modelOf({ mock, model, baseUrl, apiKey }: RagRequest): LanguageModel {
    if (mock) return createMockModel();
    const { model: settings } = this.#options;
    const isOwn = baseUrl === undefined || this.isConfiguredModel(baseUrl);
    const hasKey = (apiKey ?? settings.apiKey) !== undefined;
    // Does not send the question to an address that cannot answer without a key.
    if (isOwn && !hasKey && isSameAddress(settings.baseUrl, KEYED_ADDRESS))
      return unconfiguredModel(model ?? settings.model);
    const chat = createChatModel({
      baseUrl: baseUrl ?? settings.baseUrl,
      configuredBaseUrl: settings.baseUrl,
      model: model ?? settings.model,
      apiKey: keyFor({
        requestedBaseUrl: baseUrl,
        requestedKey: apiKey,
        configuredBaseUrl: settings.baseUrl,
        configuredKey: settings.apiKey,
      }),
      allowedHosts: settings.allowedHosts,
    });
    return isOwn ? withAdvice(chat, hasKey) : chat;
  }
}

/** The default address, which refuses requests without a key. */
const KEYED_ADDRESS = 'https://api.openai.com/v1';
const NEED_NO_MODEL = 'Questions in mode "symbolic", or with "mock": true, need no model.';
const UNSET_KEY = 'no API key is set';

function unconfiguredModel(name: string): LanguageModel {
  const what = `No language model is configured: ${UNSET_KEY}. Set it, or set the address, the name and the allowed host of a model that needs no key.`;
  const fields: ErrorFields = { settings: ['openaiApiKey', 'llmBaseUrl', 'llmModel', 'llmAllowedHosts'] };
  return { name, complete: () => Promise.reject(refusal('model_failed', `${what} ${NEED_NO_MODEL}`, { fields })) };
}

/**
 * Returns a model whose failures also name the settings that may be the cause, and the modes that
 * need no model.
 */
function withAdvice(model: LanguageModel, hasKey: boolean): LanguageModel {
  const what = `The model is the configured one${hasKey ? '' : `; ${UNSET_KEY}`}.`;
  const settings: readonly SettingKey[] = ['llmBaseUrl', 'llmModel', ...(hasKey ? [] : ['openaiApiKey' as const])];
  return {
    name: model.name,
    async complete(prompt, signal) {
      try {
        return await model.complete(prompt, signal);
      } catch (error) {
        if (!(error instanceof HedgerowError) || error.code !== 'model_failed') throw error;
        const fields = { ...error.fields, settings };
        throw refusal('model_failed', `${error.message} ${what} ${NEED_NO_MODEL}`, { fields });
      }
    },
  };
}

/** Loads the tokens in steps without a known progress. */
function* tokens(): Steps<void> {
  for (const _ of loadTokens()) yield;
}
