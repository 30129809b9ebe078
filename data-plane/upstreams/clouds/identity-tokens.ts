/** Reads the identity tokens that a platform such as Kubernetes writes into files and replaces regularly. */
import { readFile } from 'node:fs/promises';
import type { TokenIo } from '@gateway/shared/clouds/token-grants';

/** Maximum length of an identity token, in characters. */
const TOKEN_LENGTH_MAX = 32_768;

/** Paths of the files; undefined for a platform that issues none. */
export interface IdentityTokenFiles {
  AWS?: string | undefined;
  GOOGLE?: string | undefined;
}

/** The names of the variables that hold the paths. The name for AWS is that of its own SDKs. */
const VARIABLES = { AWS: 'AWS_WEB_IDENTITY_TOKEN_FILE', GOOGLE: 'GOOGLE_IDENTITY_TOKEN_FILE' } as const;

/**
 * The paths in the environment. Only the operator of the node sets them: with a path from the configuration,
 * an administrator could have any file of the node sent to a token endpoint.
 */
export function readIdentityTokenFiles(env: Record<string, string | undefined>): IdentityTokenFiles {
  return { AWS: env[VARIABLES.AWS] || undefined, GOOGLE: env[VARIABLES.GOOGLE] || undefined };
}

/** Reads the present token of a cloud. The result throws an Error that names the variable to set. */
export function identityTokens(files: IdentityTokenFiles): TokenIo['identityToken'] {
  return async (cloud) => {
    const path = files[cloud];
    if (path === undefined) throw new Error(`This node has no identity. Set ${VARIABLES[cloud]}.`);
    const token = await readFile(path, 'utf8').then(
      (text) => text.trim(),
      () => '',
    );
    if (/^[\x21-\x7e]+$/.test(token) && token.length <= TOKEN_LENGTH_MAX) return token;
    throw new Error(`The file in ${VARIABLES[cloud]} holds no identity token. Check the file.`);
  };
}
