/** Which control plane a node goes on with, and how its addresses are given. */
import { expect, it } from 'vitest';
import { Addresses } from './addresses.ts';
import { readNodeSettings } from './node-settings.ts';

it('goes round the control planes, one step for all who failed at the same one', () => {
  const addresses = new Addresses(['a', 'b', 'c']);
  expect(addresses.current).toBe('a');
  addresses.leave('a');
  addresses.leave('a');
  expect(addresses.current).toBe('b');
  addresses.leave('b');
  addresses.leave('c');
  expect(addresses.current).toBe('a');
});

it('stays with the only one', () => {
  const addresses = new Addresses(['a']);
  addresses.leave('a');
  expect(addresses.current).toBe('a');
});

const settings = (controlUrl: string): readonly string[] =>
  readNodeSettings({ CONTROL_URL: controlUrl, NODE_TOKEN: 'gnt_test' }).controlUrls;

it('takes one address or several, and names the variable where one of them is none', () => {
  expect(settings('http://one:4000')).toEqual(['http://one:4000']);
  expect(settings('http://one:4000, https://two')).toEqual(['http://one:4000', 'https://two']);
  for (const wrong of ['', 'one:4000', 'http://one,', 'http://one,ftp://two'])
    expect(() => settings(wrong)).toThrow(/CONTROL_URL/);
});
