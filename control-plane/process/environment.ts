/** The variables of this process. */
import { readFileSync } from 'node:fs';
import { withSecretFiles } from '@gateway/shared/secret-files';

/** The variables of this process, with secrets read from their files. Throws like `withSecretFiles`. */
export function readEnvironment(): NodeJS.ProcessEnv {
  return withSecretFiles(process.env, (path) => readFileSync(path, 'utf8'));
}
