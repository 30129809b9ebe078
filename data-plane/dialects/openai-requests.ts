/** Request fields that chat completions and legacy completions share. */
import { fieldError } from './fields.ts';
import type { Fields } from './fields.ts';

/** Maximum number of choices that one request may ask for; a model's own limit is usually lower. */
const CHOICES_MAX = 128;

/** Reads `n`, the number of choices; 1 if absent. Throws `invalid_request` if out of range. */
export function readChoices(fields: Fields): number {
  const choices = fields.integer('n') ?? 1;
  if (choices < 1 || choices > CHOICES_MAX)
    throw fieldError(fields.pointer('n'), `between 1 and ${CHOICES_MAX}`);
  return choices;
}

/** Reads `stop`: one sequence or a list; undefined if absent. */
export function readStop(fields: Fields): string[] | undefined {
  const stop = fields.take('stop');
  return typeof stop === 'string' ? [stop] : fields.strings('stop');
}

/** Reads `stream_options`: `usageInStream` if the client wants a usage chunk. */
export function readStreamOptions(fields: Fields): { usageInStream?: true } {
  const options = fields.object('stream_options');
  const usageInStream = options?.boolean('include_usage') ?? false;
  // Padding against traffic analysis is not passed on, because the gateway encodes the stream itself.
  options?.ignore('include_obfuscation');
  return usageInStream ? { usageInStream } : {};
}
