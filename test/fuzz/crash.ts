/** Runs an input, and names the way in which it crashes. */
import { GatewayError } from '@gateway/shared/failures';
import { Violation } from './target.ts';
import type { FuzzTarget } from './target.ts';

export interface Crash {
  input: Uint8Array;
  /** The same for all inputs that crash at the same place. */
  signature: string;
  /** Message and stack. */
  text: string;
}

/** The exception of the input; undefined if there is none. */
export async function crashOf(target: FuzzTarget, input: Buffer): Promise<Crash | undefined> {
  try {
    const running = target.run(input);
    // Most targets are synchronous: waiting for nothing would take longer than they do.
    if (running) await running;
    return undefined;
  } catch (cause) {
    const error = cause instanceof Error ? cause : new Error(String(cause));
    return { input, signature: signatureOf(error), text: error.stack ?? error.message };
  }
}

function signatureOf(error: Error): string {
  if (error instanceof Violation) return error.message.split(':')[0] ?? '';
  const place = /\n\s+at ([^\n]*(?:data-plane|control-plane|shared|fuzz)\/[^\n]*)/.exec(
    error.stack ?? '',
  )?.[1];
  const code = error instanceof GatewayError ? ` ${error.code}` : '';
  return `${error.name}${code} ${place ?? error.message}`;
}
