/**
 * What one provider must see again travels through other formats' signature fields wrapped in an envelope
 * that names its dialect: without one a signature would be shown to a provider that never made it, and
 * refused.
 */
import { DIALECTS } from '@gateway/shared/catalog';
import type { DialectName } from '@gateway/shared/catalog';
import type { Seal } from './canonical.ts';
import { isObject, parseObject } from './fields.ts';

const PREFIX = 'gwseal1_';
const SUMMARY_PREFIX = 'gwsummary1_';

/** Whether a request holds what only the gateway itself can open: no upstream may get it as it is. */
export function holdsEnvelope(bytes: Buffer): boolean {
  return bytes.includes(PREFIX) || bytes.includes(SUMMARY_PREFIX);
}

/** A summary that the gateway had written, for the opaque field of a `compaction` item. */
export function writeSummary(text: string): string {
  return SUMMARY_PREFIX + Buffer.from(text, 'utf8').toString('base64url');
}

/** The summary in such a field; undefined where a provider made it. */
export function readSummary(text: string): string | undefined {
  if (!text.startsWith(SUMMARY_PREFIX)) return undefined;
  return Buffer.from(text.slice(SUMMARY_PREFIX.length), 'base64url').toString('utf8');
}

/**
 * A seal in the signature field of `wire`: bare where it is that dialect's own, else wrapped. `next`: see
 * `openSeal`.
 */
export function writeSeal(seal: Seal, wire: DialectName, next = false): string {
  if (seal.dialect === wire && !next) return seal.value;
  const envelope = {
    d: seal.dialect,
    v: seal.value,
    ...(seal.id === undefined ? {} : { i: seal.id }),
    ...(next ? { n: 1 } : {}),
  };
  return PREFIX + Buffer.from(JSON.stringify(envelope)).toString('base64url');
}

/**
 * What a signature field of `wire` holds. `next` says that the seal belongs to the part that follows: formats
 * without a signature on text and tool calls carry such seals in an empty reasoning block before them.
 */
export function openSeal(text: string, wire: DialectName, id?: string): { seal: Seal; next: boolean } {
  const envelope = text.startsWith(PREFIX) ? parseEnvelope(text.slice(PREFIX.length)) : undefined;
  if (envelope) return envelope;
  return { seal: { dialect: wire, value: text, ...(id === undefined ? {} : { id }) }, next: false };
}

function parseEnvelope(text: string): { seal: Seal; next: boolean } | undefined {
  const envelope = parseObject(Buffer.from(text, 'base64url').toString('utf8'));
  const dialect = DIALECTS.find((name) => name === envelope?.d);
  if (!isObject(envelope) || !dialect || typeof envelope.v !== 'string') return undefined;
  const seal = { dialect, value: envelope.v, ...(typeof envelope.i === 'string' ? { id: envelope.i } : {}) };
  return { seal, next: envelope.n === 1 };
}
