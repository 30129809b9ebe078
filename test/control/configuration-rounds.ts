/** Applies random edits of a configuration and takes them back. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { applyConfiguration } from '../../control-plane/configuration/apply.ts';
import type { Change } from '../../control-plane/configuration/change.ts';
import type { ConfigurationDocument } from '../../control-plane/configuration/document.ts';
import { exportDocument } from '../../control-plane/configuration/export.ts';
import { readState } from '../../control-plane/configuration/state.ts';
import { readDocument, writeDocument } from '../../control-plane/configuration/yaml.ts';
import { SYSTEM_ACTOR } from '../../control-plane/graphql/context.ts';
import { UserFailure } from '../../control-plane/graphql/errors.ts';
import type { TestApp } from './app.ts';
import { anyEdit, SECRETS } from './configuration-edits.ts';

/** Applies a document with the secrets of the edits. */
export async function applyTo(
  { orm, settings }: TestApp,
  document: ConfigurationDocument,
  { dryRun = false, secrets = SECRETS }: { dryRun?: boolean; secrets?: ReadonlyMap<string, string> } = {},
): Promise<Change[]> {
  const application = { document, secrets, reason: 'for a test', dryRun, expectedState: null };
  const by = { actor: SYSTEM_ACTOR, settings };
  return (await applyConfiguration(orm.em.fork(), application, by)).changes;
}

/** The export of everything. */
export async function exportOf({ orm, settings }: TestApp): Promise<string> {
  return writeDocument(exportDocument(await readState(orm.em.fork(), settings.secretKey), () => true));
}

interface Rounds {
  /** The configuration before and after each round, with its secrets. */
  base: ConfigurationDocument;
  rounds: number;
  editsPerRound: number;
  seed: number;
}

/**
 * In each round applies some edits together, checks that a second time changes nothing, and takes them back.
 * Returns the number of edits that were applied; a refused round must change nothing.
 */
export async function editAndRevert(
  test: TestApp,
  { base, rounds, editsPerRound, seed }: Rounds,
): Promise<number> {
  await applyTo(test, base);
  const full = withSecrets(readDocument(await exportOf(test)), base);
  const start = await exportOf(test);
  let applied = 0;
  const edits = fc.array(anyEdit, { minLength: editsPerRound, maxLength: editsPerRound });
  for (const round of fc.sample(edits, { numRuns: rounds, seed })) {
    const edited = round.reduce((document, edit) => edit(document), full);
    const accepted = await applyTo(test, readDocument(writeDocument(edited))).then(
      () => true,
      (error: unknown) => {
        if (error instanceof UserFailure) return false;
        throw error;
      },
    );
    if (accepted) {
      applied += round.length;
      expect(await applyTo(test, edited)).toEqual([]);
      await applyTo(test, full);
    }
    expect(await exportOf(test)).toBe(start);
  }
  return applied;
}

/** An export with the secrets and the pruned sections of a file. */
function withSecrets(exported: ConfigurationDocument, base: ConfigurationDocument): ConfigurationDocument {
  const credentials = new Map((base.upstreams ?? []).map((each) => [each.name, each.credentials ?? []]));
  const upstreams = (exported.upstreams ?? []).map((each) => ({
    ...each,
    credentials: credentials.get(each.name) ?? [],
  }));
  return { ...exported, upstreams, prune: base.prune ?? [] };
}
