// Asks a running server for a backup and waits until the backup is finished.

import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { NoAnswer, refusalOf, type ServerAddress } from '../import/targets/server-client.ts';

export interface BackupRequest {
  backup_dir?: string;
  compact_first: boolean;
}

/** The answer of `POST /v1/backup`. */
export interface BackupAnswer {
  path: string;
  size_bytes: number;
  tables: string[];
  compact_first: boolean;
}

/** Error codes which mean that the request never reached the server. */
const NOT_SENT: readonly string[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/**
 * Requests a backup. Uses `node:http` because `fetch` fails when an answer does not begin within
 * five minutes, and a large backup may take longer. Throws ServerRefusal, NoAnswer, or an Error if
 * the answer is not JSON.
 */
export async function requestBackup({ url, apiKey }: ServerAddress, body: BackupRequest): Promise<BackupAnswer> {
  const { status, text } = await post(`${url}/v1/backup`, apiKey, JSON.stringify(body)).catch((error) => {
    const why = (error as { code?: string }).code ?? (error as Error).message;
    const advice = NOT_SENT.includes(why)
      ? 'Start it with hedgerow serve, or back up its directory with --data DIR --to DIR.'
      : 'Whether the backup was made is not known: look into the backup directory.';
    throw new NoAnswer(`No answer from ${url} (${why}). ${advice}`, { cause: error });
  });
  if (status !== 200) throw refusalOf(status, text);
  try {
    return JSON.parse(text) as BackupAnswer;
  } catch {
    throw new Error(`The server at ${url} is not a Hedgerow server.`);
  }
}

function post(url: string, apiKey: string | undefined, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const headers = { 'content-type': 'application/json', ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }) };
    const request = send(url, { method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}
