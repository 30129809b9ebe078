/** Which API changes break clients, and how deprecations announce removals. */
import { readFileSync } from 'node:fs';
import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { breakingChanges, hastyDeprecations, undatedDeprecations } from './api-changes.ts';
import { createBus } from '../database/events.ts';
import { createSchema } from './schema.ts';

const TODAY = new Date('2027-01-01T00:00:00Z');
const RELEASED = `
  type Query {
    user: User
    old(all: Boolean = true): Old @deprecated(reason: "Use user. Removed after 2026-12-01.")
  }
  type User { id: ID! name: String @deprecated(reason: "Use id. Removed after 2027-02-01.") kind: Kind }
  type Old { id: ID! }
  enum Kind { A B @deprecated(reason: "Use A. Removed after 2026-12-31.") }
`;
const changed = (from: string | RegExp, to: string): string[] =>
  breakingChanges(RELEASED, buildSchema(RELEASED.replace(from, to)), TODAY);

describe('breakingChanges', () => {
  it('finds none from the released API to this one (if it does, deprecate as docs/api.md says)', () => {
    const released = readFileSync('control-plane/released.graphql', 'utf8');
    expect(breakingChanges(released, createSchema(createBus()), new Date())).toEqual([]);
  });

  it('finds removed fields and values, changed types, new required arguments and changed defaults', () => {
    expect(changed('user: User', 'person: User')).toEqual(['FIELD_REMOVED: Query.user was removed.']);
    expect(changed('kind: Kind', 'kind: String')[0]).toMatch(/^FIELD_CHANGED_KIND/);
    expect(changed('kind: Kind', 'kind(of: ID!): Kind')[0]).toMatch(/^REQUIRED_ARG_ADDED/);
    expect(changed('enum Kind { A B', 'enum Kind { B')).toHaveLength(1);
    const other = RELEASED.replace('Removed after 2026-12-01.', 'Removed after 2028-12-01.');
    expect(breakingChanges(other, buildSchema(other.replace('= true', '= false')), TODAY)).toHaveLength(1);
  });

  it('accepts additions', () => {
    expect(changed('kind: Kind', 'kind(of: ID): Kind more: Old')).toEqual([]);
    expect(changed('enum Kind { A', 'enum Kind { A C')).toEqual([]);
  });

  it('accepts the removal of deprecated elements, with their types, after their removal day', () => {
    const later = RELEASED.replace(/ old\(.*"\)/, '')
      .replace(/type Old.*\n/, '')
      .replace(/ B @.*\)/, '');
    expect(breakingChanges(RELEASED, buildSchema(later), TODAY)).toEqual([]);
    expect(breakingChanges(RELEASED, buildSchema(later), new Date('2026-11-30'))).toHaveLength(3);
    expect(changed(/ name: String @[^)]*\)/, '')).toEqual(['FIELD_REMOVED: User.name was removed.']);
  });
});

describe('a deprecation', () => {
  const next = (reason: string) =>
    buildSchema(RELEASED.replace('kind: Kind', `kind: Kind @deprecated(reason: "${reason}")`));

  it('must name the day of removal', () => {
    expect(undatedDeprecations(createSchema(createBus()))).toEqual([]);
    expect(undatedDeprecations(next('Unused.'))).toEqual(['User.kind: Unused.']);
    expect(undatedDeprecations(next('Use id. Removed after 2027-09-01.'))).toEqual([]);
  });

  it('must give 180 days of notice from the release that announces it', () => {
    expect(hastyDeprecations(RELEASED, next('Use id. Removed after 2027-06-29.'), TODAY)).toHaveLength(1);
    expect(hastyDeprecations(RELEASED, next('Use id.'), TODAY)).toHaveLength(1);
    expect(hastyDeprecations(RELEASED, next('Use id. Removed after 2027-06-30.'), TODAY)).toEqual([]);
  });
});
