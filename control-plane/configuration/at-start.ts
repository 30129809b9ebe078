/** Applies the file of CONFIG_FILE when a control plane starts. */
import { readFileSync } from 'node:fs';
import type { EntityManager } from '@mikro-orm/postgresql';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import type { Settings } from '../process/settings.ts';
import { applyConfiguration } from './apply.ts';
import { readSecrets } from './references.ts';
import { DocumentError } from './shape.ts';
import { readDocument } from './yaml.ts';

/**
 * Applies the file and returns the number of changes. Several instances may start at once: the first one
 * applies the file, and the others find nothing to change. Throws an Error that names CONFIG_FILE if the file
 * cannot be read or is refused.
 */
export async function applyAtStart(
  em: EntityManager,
  settings: Settings,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const { configFile } = settings;
  if (configFile === null) return 0;
  try {
    const document = readDocument(textOf(configFile));
    const secrets = readSecrets(document, environment);
    const reason = 'CONFIG_FILE at the start of a control plane';
    const application = { document, secrets, reason, dryRun: false, expectedState: null };
    const { changes } = await applyConfiguration(em, application, { actor: SYSTEM_ACTOR, settings });
    return changes.length;
  } catch (cause) {
    if (!(cause instanceof UserFailure) && !(cause instanceof DocumentError)) throw cause;
    throw new Error(`CONFIG_FILE ${configFile}: ${cause.message}`, { cause });
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Error(`CONFIG_FILE: the file ${path} cannot be read. Check path and permissions.`, { cause });
  }
}
