/** Prints the audit log through the API of a control plane, and follows it across lost connections. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Options } from './options.ts';

/** Pause after a lost connection, in ms. It doubles with each failure, and begins anew with an event. */
const FIRST_PAUSE_MS = 1000;
const PAUSE_MAX_MS = 30_000;
/** A follower receives an empty line each 15 s. After this time without a line, in ms, it connects again. */
const SILENCE_MAX_MS = 60_000;

/** A refusal of the control plane, which a repetition would not change. */
class Refused extends Error {}

/**
 * Prints each event after the position, and stores the position after it was printed: an event may be printed
 * twice, and none is left out. Following, it ends only with an Error that says what to correct.
 */
export async function printAuditLog(options: Options, print: (line: string) => void): Promise<void> {
  const { follow, stateFile } = options.audit;
  let position = storedPosition(stateFile) ?? options.audit.after;
  let pauseMs = FIRST_PAUSE_MS;
  const show = (line: string): void => {
    print(line);
    position = positionOf(line);
    pauseMs = FIRST_PAUSE_MS;
    if (stateFile !== null) storePosition(stateFile, position);
  };
  for (;;) {
    try {
      await readLines(options, position, show);
    } catch (error) {
      if (!follow || error instanceof Refused) throw error;
    }
    if (!follow) return;
    await delay(pauseMs);
    pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS);
  }
}

/** Shows the events of one answer. Rejects if the connection is lost or refused. */
async function readLines(
  { url, accessToken, audit }: Options,
  after: string,
  show: (line: string) => void,
): Promise<void> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
  try {
    const query = new URLSearchParams({ after, follow: String(audit.follow) });
    const response = await fetch(`${url}/export/audit.jsonl?${query}`, {
      headers: { authorization: `Bearer ${accessToken}` },
      redirect: 'error',
      signal: silence.signal,
    });
    if (!response.ok || !response.body) throw await refusalOf(response);
    let rest = '';
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      timer.refresh();
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') show(line);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** The reason of an answer without events. Overload and faults of the server are worth a repetition. */
async function refusalOf(response: Response): Promise<Error> {
  const answer = (await response.json().catch(() => ({}))) as { errors?: { message: string }[] };
  const message = answer.errors?.[0]?.message ?? `The console answered with ${response.status}.`;
  return response.status === 429 || response.status >= 500 ? new Error(message) : new Refused(message);
}

function positionOf(line: string): string {
  const { position } = JSON.parse(line) as { position: string };
  return position;
}

/** The position in the file; null without a file. Throws if the file holds something else. */
function storedPosition(file: string | null): string | null {
  if (file === null || !existsSync(file)) return null;
  const text = readFileSync(file, 'utf8').trim();
  if (/^\d+$/.test(text)) return text;
  throw new Error(`${file} holds no position. Remove the file to begin anew, or name another with --state.`);
}

/** Replaces the file at once, so that a crash leaves the old position or the new one. */
function storePosition(file: string, position: string): void {
  writeFileSync(`${file}.new`, `${position}\n`);
  renameSync(`${file}.new`, file);
}
