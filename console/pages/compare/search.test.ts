/** Tests which models the address of a comparison names. */
import { describe, expect, it } from 'vitest';
import { validCompareSearch } from './search.ts';

describe('the search parameters of a comparison', () => {
  it('name at most four different models, in their order', () => {
    const models = ['b', 'a', 'b', 42, null, '', 'c', 'd', 'e'];
    expect(validCompareSearch({ models })).toEqual({ models: ['b', 'a', '42', 'c'] });
  });

  it.each([{}, { models: 'a' }, { models: [] }, { models: [{}] }])('name none in %j', (search) => {
    expect(validCompareSearch(search)).toEqual({ models: undefined });
  });
});
