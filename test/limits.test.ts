/**
 * Walks the table of limits: every caller has a limit of every resource at every entrance, and a test proves
 * it. A `Cell` cannot be missing. `npx vitest run test/limits.test.ts -u` writes docs/limits.md.
 */
import { describe, expect, it } from 'vitest';
import { CALLERS, ENTRANCES, RESOURCES } from './limits/cells.ts';
import type { Cell, Entrance, Section } from './limits/cells.ts';
import {
  CONTROL_ANSWERS,
  DOWNLOADS,
  GRAPHQL_HTTP,
  GRAPHQL_WEBSOCKET,
  STATIC_FILES,
  WEBHOOKS,
} from './limits/control-table.ts';
import { DOORS, openDoors } from './limits/doors.ts';
import { NODE_HTTP, NODE_WEBSOCKET, UPSTREAM_ANSWERS } from './limits/node-table.ts';
import { documentOf } from './limits/document.ts';
import { testsOf, valueOf } from './limits/read.ts';

const TABLE: Readonly<Record<Entrance, Section>> = {
  'node HTTP': NODE_HTTP,
  'node WebSocket': NODE_WEBSOCKET,
  'GraphQL HTTP': GRAPHQL_HTTP,
  'GraphQL WebSocket': GRAPHQL_WEBSOCKET,
  webhooks: WEBHOOKS,
  'static files': STATIC_FILES,
  downloads: DOWNLOADS,
  'upstream answers': UPSTREAM_ANSWERS,
  'answers to the control plane': CONTROL_ANSWERS,
};

/** The cells of a section, each with its place. */
function cellsOf(entrance: Entrance): { place: string; cell: Cell }[] {
  return RESOURCES.flatMap((resource) =>
    CALLERS.map((caller) => ({
      place: `${entrance}, ${resource}: ${caller}`,
      cell: TABLE[entrance][resource][caller],
    })),
  );
}

describe.each(ENTRANCES)('the limits of %s', (entrance) => {
  const cells = cellsOf(entrance);

  it('name a number that the code has, or say why there is none', () => {
    const faults = cells.flatMap(({ place, cell }) => {
      if (!('limits' in cell)) return Object.values(cell).join('').length > 10 ? [] : [`${place}: no reason`];
      if (cell.limits.length === 0) return [`${place}: no limit`];
      return cell.limits.filter((limit) => !(valueOf(limit) >= 0)).map((limit) => `${place}: ${limit}`);
    });
    expect(faults).toEqual([]);
  });

  it('are proved by tests that exist', () => {
    const faults = cells.flatMap(({ place, cell }) => {
      if (!('limits' in cell)) return [];
      if (cell.proofs.length === 0) return [`${place}: no proof`];
      return cell.proofs
        .filter((proof) => {
          const [path = ''] = proof.split(': ', 1);
          return !testsOf(path).has(proof.slice(path.length + 2));
        })
        .map((proof) => `${place}: there is no test "${proof}"`);
    });
    expect(faults).toEqual([]);
  });
});

describe('the table of limits', () => {
  it('has the entrance of every module that listens or asks other services', () => {
    expect(openDoors()).toEqual(Object.keys(DOORS).toSorted());
  });

  it('is docs/limits.md, with the values of the code', async () => {
    await expect(documentOf(TABLE)).toMatchFileSnapshot('../docs/limits.md');
  });
});
