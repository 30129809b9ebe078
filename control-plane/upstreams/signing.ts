/** Signature Version 4 of AWS by aws4fetch. */
import { AwsV4Signer } from 'aws4fetch';
import type { SignWith } from '@gateway/shared/clouds/signature';

/** Signs a request; the headers carry the signature. */
export const signWith: SignWith = (options) => new AwsV4Signer(options).sign();
