/** How a node chooses among control plane instances, and how their addresses are configured. */
import { expect, test } from 'vitest';
import { ControlAddresses } from './addresses.ts';
import { readNodeSettings } from '../node/node-settings.ts';

test('all callers that fail on one instance move to the next one together, in a ring', () => {
  const addresses = new ControlAddresses(['a', 'b', 'c']);
  expect(addresses.current).toBe('a');
  addresses.failOver('a');
  addresses.failOver('a');
  expect(addresses.current).toBe('b');
  addresses.failOver('b');
  addresses.failOver('c');
  expect(addresses.current).toBe('a');
});

test('a single instance stays in use after a failure', () => {
  const addresses = new ControlAddresses(['a']);
  addresses.failOver('a');
  expect(addresses.current).toBe('a');
});

const settings = (controlUrl: string): readonly string[] =>
  readNodeSettings({ CONTROL_URL: controlUrl, NODE_TOKEN: 'gnt_test' }).controlUrls;

test('CONTROL_URL takes one or several addresses, and the error for a bad one names the variable', () => {
  expect(settings('http://one:4000')).toEqual(['http://one:4000']);
  expect(settings('http://one:4000, https://two')).toEqual(['http://one:4000', 'https://two']);
  for (const wrong of ['', 'one:4000', 'http://one,', 'http://one,ftp://two'])
    expect(() => settings(wrong)).toThrow(/CONTROL_URL/);
});
