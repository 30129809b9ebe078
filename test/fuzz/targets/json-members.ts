/** JSON bodies: our scanner reads what JSON.parse reads, and its edits change only what they should. */
import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '@gateway/shared/failures';
import { readJson } from '../../../data-plane/dialects/exact-json.ts';
import { isObject } from '../../../data-plane/dialects/fields.ts';
import { replaceMembers } from '../../../data-plane/exchange/json-members.ts';
import { outlinedBody, parseRequestBody } from '../../../data-plane/exchange/request-body.ts';
import type { RequestBody } from '../../../data-plane/exchange/request-body.ts';
import { restored } from '../../outlines.ts';
import { recordedRequests } from '../recorded.ts';
import { demand } from '../target.ts';
import type { FuzzTarget } from '../target.ts';
import { readStructure } from '../json-structure.ts';

const DEPTH = 64;
/** Texts of more bytes than this are left out of an outline, so that short inputs have some. */
const LONG_TEXT_BYTES = 3;

export const target: FuzzTarget = {
  run(input) {
    const value = parsed(input);
    const refusal = refusalOf(value, input);
    const outlined = outlineOf(input);
    let body: RequestBody;
    try {
      body = parseRequestBody(input);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      demand(refusal !== undefined, () => `a good body is refused: ${error.message}`);
      demand(outlined === undefined, 'a refused body has an outline');
      return;
    }
    demand(refusal === undefined, () => `a bad body is accepted: ${refusal}`);
    demand(isDeepStrictEqual(body.value, value), 'the value differs from that of JSON.parse');
    checkMembers(body);
    checkEdits(body);
    if (outlined) checkOutline(outlined, body);
  },
  seeds: [
    '{"model":"a","messages":[{"role":"user","content":"b"}],"stream":true}',
    ' { "a" : [ 1 , -2.5e3 , null , true ] , "b\\u0020" : { "c" : "\\"}" } }\n',
    '{"a":{"b":1,"b":2}}',
    '{"":{},"a":[],"é":"\\ud800"}',
    '{"a":{"__pr\\u006fto__":1}}',
    '{"model":"a","messages":[{"content":[{"text":"long \\"text\\u0041\\n é"}]},{"arguments":"gwseal1_x"}]}',
  ],
  tokens: ['"a":', '{"', '"}', '\\u0061', '__proto__', 'model', 'Model', '"model":"b",', '[[[[', ']]]]'],
  recorded: recordedRequests,
};

/** The body in outline; undefined if it is refused or has none. */
function outlineOf(input: Buffer): RequestBody | undefined {
  if (!isUtf8(input)) return undefined;
  try {
    return outlinedBody(input, { longTextBytes: LONG_TEXT_BYTES });
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

function checkOutline(outlined: RequestBody, body: RequestBody): void {
  for (const part of ['members', 'findings', 'value', 'exact'] as const)
    demand(isDeepStrictEqual(outlined[part], body[part]), `the outline has another ${part}`);
  demand(isDeepStrictEqual(restored(outlined), body.outline), 'the outline lacks a text');
  demand(outlined.holdsEnvelope() === body.holdsEnvelope(), 'an envelope is seen in one of them alone');
}

function parsed(input: Buffer): unknown {
  try {
    // JSON.parse misreads some escaped names.
    return isUtf8(input) ? readJson(input.toString('utf8')) : undefined;
  } catch {
    return undefined;
  }
}

/** Why the body must be refused; undefined if it must be accepted. */
function refusalOf(value: unknown, input: Buffer): string | undefined {
  if (!isObject(value)) return 'no object';
  const { depth, duplicate, names } = readStructure(input.toString('utf8'));
  if (depth > DEPTH) return 'too deep';
  if (duplicate !== undefined) return `duplicate ${duplicate}`;
  if (names.has('__proto__')) return '__proto__';
  const isMisspelt = (name: string): boolean => name !== 'model' && name.toLowerCase() === 'model';
  return Object.keys(value).some(isMisspelt) ? 'model in capitals' : undefined;
}

function checkMembers({ bytes, value, members }: RequestBody): void {
  const names = members.map(({ name }) => name).sort();
  demand(isDeepStrictEqual(names, Object.keys(value).sort()), 'the names differ from those of JSON.parse');
  for (const { name, start, valueStart, valueEnd } of members) {
    const own = readJson(bytes.toString('utf8', valueStart, valueEnd));
    demand(isDeepStrictEqual(own, value[name]), 'a range holds another value');
    demand(JSON.parse(`{${bytes.toString('utf8', start, valueEnd)}}`) !== null, 'a range is no member');
  }
}

/** Replaces, removes and appends members, each as the first one of the body. */
function checkEdits({ bytes, value, members }: RequestBody): void {
  const [first, second] = Object.keys(value);
  const edits = new Map<string, string | undefined>([['model', '"new"']]);
  const expected: Record<string, unknown> = { ...value, model: 'new' };
  if (first !== undefined && first !== 'model') {
    edits.set(first, undefined);
    delete expected[first];
  }
  const inner = second === undefined || second === 'model' ? undefined : expected[second];
  const removals: (string | number)[][] = [];
  if (second !== undefined && isObject(inner)) {
    const [name] = Object.keys(inner);
    if (name !== undefined) {
      removals.push([second, name]);
      const rest = { ...inner };
      delete rest[name];
      expected[second] = rest;
    }
  } else if (second !== undefined && Array.isArray(inner) && inner.length > 0) {
    removals.push([second, inner.length - 1]);
    expected[second] = inner.slice(0, -1);
  }
  const edited = readJson(replaceMembers(bytes, members, { edits, removals }).toString('utf8'));
  demand(isDeepStrictEqual(edited, expected), 'an edited body has other members than it should');
}
