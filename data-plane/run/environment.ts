/** The environment variables of this process. */
import { readFileSync } from 'node:fs';
import { withSecretFiles } from '@gateway/shared/secret-files';

/** The variables, with secrets read from their files. Throws an Error if such a file cannot be read. */
export function environment(): Record<string, string | undefined> {
  return withSecretFiles(process.env, (path) => readFileSync(path, 'utf8'));
}
