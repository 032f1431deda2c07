// `hedgerow check-proof [FILE]`: checks the proofs of an answer without trusting any of their
// contents, and reports what is wrong with each proof.

import { HedgerowError } from '../../errors.ts';
import { type ProofChecker, proofChecker } from '../../rules/check-proof.ts';
import { reportFailure, UsageError, type World } from '../world.ts';
import { type Claims, claimsOf } from './claims.ts';
import { readJson } from './read-json.ts';
import { stepProblems, unprovedSteps } from './steps.ts';

export interface CheckProofFlags {
  rules?: string | undefined;
}

/** At most this many reasons are shown for one proof. */
const MOST_REASONS = 5;

/**
 * Resolves with the exit code: 0 when all proofs are valid, 1 when a proof is invalid or the input
 * cannot be read, 2 for a wrong call.
 */
export async function checkProofCommand(
  file: string | undefined,
  flags: CheckProofFlags,
  world: World,
): Promise<number> {
  try {
    const fromStdin = file === undefined || file === '-';
    if (fromStdin && flags.rules === '-') throw new UsageError('Only one of FILE and --rules can be - (stdin).');
    const rules = flags.rules === undefined ? undefined : rulesOf(await readJson(flags.rules, world), flags.rules);
    const claims = claimsOf(await readJson(fromStdin ? '-' : file, world));
    const bad = badProofs(claims, checkerOf(rules, claims));
    const derivedAgain = rules !== undefined;
    for (const line of [...bad, summary(claims.proofs.length, bad.length, derivedAgain)])
      world.stdout.write(`${line}\n`);
    return bad.length === 0 ? 0 : 1;
  } catch (error) {
    return reportFailure(world, error);
  }
}

/** Accepts an array of rules, an object with a `rules` array, or a single rule. */
function rulesOf(value: unknown, file: string): unknown[] {
  const isObject = typeof value === 'object' && value !== null;
  const list = isObject && 'rules' in value ? value.rules : isObject && 'if' in value ? [value] : value;
  if (!Array.isArray(list)) throw new Error(`${file} must hold a JSON array of rules, or an object {"rules": [...]}.`);
  if (list.some((rule) => typeof rule === 'object' && rule !== null && 'body_size' in rule))
    throw new Error(`${file} holds summaries of rules; GET /v1/rules/{id} gives a whole rule.`);
  return list;
}

function checkerOf(rules: unknown[] | undefined, { known }: Claims): ProofChecker {
  try {
    return proofChecker({ rules, known });
  } catch (error) {
    if (error instanceof HedgerowError) throw new Error(error.message);
    throw error;
  }
}

/** Returns a line for each proof that is not valid, and for each derived fact that has no proof. */
function badProofs(claims: Claims, check: ProofChecker): string[] {
  const lines: string[] = [];
  for (const [index, proof] of claims.proofs.entries()) {
    const problems = check(proof);
    if (problems.length === 0) problems.push(...stepProblems(proof, claims.steps));
    if (problems.length > 0) lines.push(`${nameOf(proof, index)}: ${reasons(problems)}`);
  }
  return [...lines, ...unprovedSteps(claims)];
}

function nameOf(proof: unknown, index: number): string {
  const id = typeof proof === 'object' && proof !== null && 'proof_id' in proof ? proof.proof_id : undefined;
  return typeof id === 'string' && /^proof-\d{1,16}$/.test(id) ? id : `the proof at ${index + 1}`;
}

function reasons(problems: readonly string[]): string {
  const more = problems.length > MOST_REASONS ? `; and ${problems.length - MOST_REASONS} more` : '';
  return `${problems.slice(0, MOST_REASONS).join('; ')}${more}`;
}

function summary(total: number, bad: number, derivedAgain: boolean): string {
  const proofs = total === 1 ? '1 proof' : `${total} proofs`;
  if (bad > 0) return `${proofs}, ${bad === 1 ? '1 fault' : `${bad} faults`}`;
  const hint = derivedAgain || total === 0 ? '' : '; no conclusion was derived again, because that needs --rules FILE';
  return `${proofs}, all valid${hint}`;
}
