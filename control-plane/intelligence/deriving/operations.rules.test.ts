/** Operations of a model are accepted only with evidence, for allowed kinds, and in bounded numbers. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PERSONAL_KINDS } from '../switch.entity.ts';
import { meantSentences, spokenText } from './spoken.rules.ts';
import { acceptOperations, parseOperations } from './operations.rules.ts';
import type { Reading } from './operations.rules.ts';

const READING: Reading = {
  kinds: new Set(['PREFERENCE_PROFILE', 'WORKING_ON']),
  messages: [
    { id: 'msg_1', name: 'm1', role: 'USER', content: 'I prefer tabs over spaces. I am building a parser.' },
    { id: 'msg_2', name: 'm2', role: 'ASSISTANT', content: 'You prefer four spaces and dark themes.' },
  ],
  items: [
    { id: 'itm_1', name: 'i1', kind: 'WORKING_ON', text: 'Building a parser', isOwn: false },
    { id: 'itm_2', name: 'i2', kind: 'PREFERENCE_PROFILE', text: 'Writes British English', isOwn: true },
  ],
};
const TABS = { op: 'ADD', kind: 'PREFERENCE_PROFILE', text: 'I prefer tabs over spaces', evidence: ['m1'] };
const refusedFor = (...list: object[]) => acceptOperations(list, READING).refused;

describe('operations', () => {
  it('are accepted if they quote the user', () => {
    expect(acceptOperations([TABS], READING)).toEqual({
      operations: [{ ...TABS, evidence: ['msg_1'] }],
      refused: {},
    });
  });

  it.each<[string, object, string]>([
    ['for a kind that is off', { ...TABS, kind: 'DURABLE_ROUTINE' }, 'KIND_OFF'],
    ['without evidence', { ...TABS, evidence: [] }, 'NO_EVIDENCE'],
    ['with evidence that does not exist', { ...TABS, evidence: ['m99'] }, 'NO_EVIDENCE'],
    ["with the assistant's words as evidence", { ...TABS, evidence: ['m2'] }, 'NO_EVIDENCE'],
    ['with the id of a message instead of its name', { ...TABS, evidence: ['msg_1'] }, 'NO_EVIDENCE'],
    ['that the user did not say', { ...TABS, text: 'Owns a yacht in Monaco harbour' }, 'NOT_SAID'],
    ['on an item of somebody else', { ...TABS, op: 'UPDATE', id: 'itm_9' }, 'UNKNOWN_ITEM'],
    ['on an item that the user edited', { ...TABS, op: 'UPDATE', id: 'i2' }, 'OWN_ITEM'],
  ])('%s are refused', (_name, operation, reason) => {
    expect(refusedFor(operation)).toEqual({ [reason]: 1 });
  });

  it('are read up to the fortieth of an answer', () => {
    const { operations, refused } = acceptOperations(
      Array.from({ length: 10_000 }, () => TABS),
      READING,
    );
    expect(operations.length).toBeLessThanOrEqual(40);
    expect(refused.TOO_MANY).toBe(9_960);
  });

  it('are refused if they have a text of 1 MB', () => {
    const { operations } = acceptOperations([{ ...TABS, text: 'I prefer tabs '.repeat(80_000) }], READING);
    expect(operations).toEqual([]);
  });

  it('never name a foreign message or item, and never lack evidence of the user, in any shape', () => {
    const names = fc.constantFrom('m1', 'm2', 'm3', 'i1', 'i2', 'msg_1', '__proto__', 'constructor');
    const operation = fc.record(
      {
        op: fc.constantFrom('ADD', 'UPDATE', 'REINFORCE', 'EXPIRE', 'NOOP', 'DROP'),
        kind: fc.oneof(fc.constantFrom<unknown>(...PERSONAL_KINDS), fc.anything()),
        id: fc.oneof(names, fc.anything()),
        text: fc.oneof(fc.constantFrom('I prefer tabs over spaces', 'building a parser'), fc.anything()),
        evidence: fc.oneof(fc.array(names), fc.anything()),
      },
      { requiredKeys: [] },
    );
    const property = fc.property(fc.array(fc.oneof(operation, fc.anything()), { maxLength: 60 }), (list) => {
      for (const accepted of acceptOperations(list, READING).operations) {
        expect(accepted.evidence).toEqual(['msg_1']);
        expect(READING.kinds).toContain(accepted.kind);
        // An item that the user edited may be confirmed, but not changed.
        if (accepted.op === 'REINFORCE') expect(['itm_1', 'itm_2']).toContain(accepted.id);
        else if (accepted.op !== 'ADD') expect(accepted.id).toBe('itm_1');
      }
    });
    fc.assert(property, { numRuns: 500 });
  });
});

describe('an answer', () => {
  it.each([
    ['prose', 'I would rather not.'],
    ['a list', '[1, 2]'],
    ['an object without operations', '{"items": []}'],
    ['operations that are no list', '{"operations": {}}'],
    ['cut JSON', '{"operations": [{"op": "ADD"'],
    ['1 MB of braces', '{'.repeat(1_000_000)],
    ['nothing', ''],
  ])('has no operations if it is %s', (_name, answer) => {
    expect(parseOperations(answer)).toBeUndefined();
  });

  it('is read inside a code fence', () => {
    expect(parseOperations('```json\n{"operations": []}\n```')).toEqual([]);
  });
});

describe('a message of 60,000 characters', () => {
  it.each([
    ['without an end of a sentence', 'you are a poet '],
    ['of opening quotation marks', '“'],
    ['of questions without an answer', 'would you '],
    ['of openings of comments', '<!-- '],
    ['of names', 'Ann Bo My partner '],
    ['of Chinese pronouns', '我他她'],
  ])('%s is read before the time of a test ends', (_name, part) => {
    const text = part.repeat(60_000 / part.length);
    expect(meantSentences(spokenText(text)).join('').length).toBeLessThanOrEqual(text.length);
  });
});

it('is read without quotations of 25 to 2,000 characters, whatever marks surround them', () => {
  const quotation = /["“„«「『][^"”»」』]{25,2000}["”»」』]/g;
  const words = fc.integer({ min: 0, max: 40 }).map((length) => 'x'.repeat(length));
  const parts = fc.array(fc.oneof(fc.constantFrom(...'"“„”»「』'), words), { maxLength: 12 });
  const property = fc.property(parts, (list) => {
    const text = list.join('');
    expect(spokenText(text)).toBe(text.replace(quotation, ' ').trim());
  });
  fc.assert(property, { numRuns: 500 });
});
