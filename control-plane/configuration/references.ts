/** Reads the secrets that a configuration file refers to, on the machine where the file is applied. */
import { readFileSync } from 'node:fs';
import { referencesOf } from './document.ts';
import type { ConfigurationDocument } from './document.ts';
import { DocumentError } from './shape.ts';

/** Largest size of a secret in characters: certificates come with their chain. */
const SECRET_MAX = 12_000;

/**
 * The secrets by reference: `env:NAME` is a variable of `environment`, `file:/path` the text of a file.
 * Throws a DocumentError that names the reference and never the secret.
 */
export function readSecrets(
  document: ConfigurationDocument,
  environment: NodeJS.ProcessEnv,
): Map<string, string> {
  return new Map(
    referencesOf(document).map((reference) => {
      const secret = secretAt(reference, environment)?.trim();
      if (!secret)
        throw new DocumentError(reference, 'There is no secret. Set the variable, or write the file.');
      if (secret.length > SECRET_MAX)
        throw new DocumentError(
          reference,
          `The secret is longer than ${SECRET_MAX} characters. Check the file.`,
        );
      return [reference, secret];
    }),
  );
}

function secretAt(reference: string, environment: NodeJS.ProcessEnv): string | undefined {
  if (reference.startsWith('env:')) return environment[reference.slice('env:'.length)];
  try {
    return readFileSync(reference.slice('file:'.length), 'utf8');
  } catch {
    throw new DocumentError(reference, 'The file cannot be read. Check the path and the permissions.');
  }
}
