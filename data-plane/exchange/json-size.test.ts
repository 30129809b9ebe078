/** The number of values in a JSON body is limited before the body is parsed. */
import { describe, expect, it } from 'vitest';
import {
  JSON_CONTAINERS,
  JSON_COUNTED_BYTES,
  JSON_MEMBERS,
  JSON_TOP_MEMBERS,
  JSON_VALUES,
} from '../limits.ts';
import { parseRequestBody } from './request-body.ts';

const bodyOf = (items: string): Buffer => Buffer.from(`{"messages":[${items}]}`);
const repeat = (item: string, times: number): string => Array.from({ length: times }, () => item).join(',');

describe('a JSON body', () => {
  it('is refused before it is parsed if it has too many objects and lists', () => {
    expect(() => parseRequestBody(bodyOf(repeat('{}', JSON_CONTAINERS)))).toThrow(/objects and lists/);
    expect(() => parseRequestBody(bodyOf(repeat('[]', JSON_CONTAINERS)))).toThrow(/objects and lists/);
  });

  it('is refused before it is parsed if it has too many values', () => {
    expect(() => parseRequestBody(bodyOf(repeat('0', JSON_VALUES)))).toThrow(/values/);
  });

  it('is refused before it is parsed if its objects have too many members', () => {
    const members = Array.from({ length: JSON_MEMBERS }, (_, at) => `"m${at}":1`).join(',');
    expect(() => parseRequestBody(bodyOf(`{${members}}`))).toThrow(/more than 200000 members/);
  });

  it('is refused if its top level has more members than any format defines', () => {
    const members = (count: number): Buffer =>
      Buffer.from(`{${Array.from({ length: count }, (_, at) => `"m${at}":1`).join(',')}}`);
    expect(parseRequestBody(members(JSON_TOP_MEMBERS)).members).toHaveLength(JSON_TOP_MEMBERS);
    expect(() => parseRequestBody(members(JSON_TOP_MEMBERS + 1))).toThrow(/more than 1000 members/);
  });

  it('may have as many brackets and commas inside strings as its bytes allow', () => {
    const text = JSON.stringify('{[,\\"'.repeat(JSON_CONTAINERS));
    expect(parseRequestBody(bodyOf(`{"content":${text}}`)).members).toHaveLength(1);
  });

  it('may have many values below the limits, also above the size from which they are counted', () => {
    const numbers = repeat('1234', JSON_COUNTED_BYTES / 4);
    expect(parseRequestBody(bodyOf(numbers)).value['messages']).toHaveLength(JSON_COUNTED_BYTES / 4);
  });
});
