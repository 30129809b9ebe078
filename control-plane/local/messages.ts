/** What the parts of a local start tell each other, and the files of the data folder that they share. */
import path from 'node:path';

/** What the control plane found or made when it started under the supervisor. */
export interface BootstrapResult {
  /** Where the first administrator claims the account, until somebody has. */
  claimUrl?: string;
  /** Whether models are served by the demo upstream. */
  demo: boolean;
  /** The demo's API key, while it is of use. */
  demoKey?: string;
}

/** Files of secrets in the data folder; each 0600. */
export function secretFiles(dataDir: string): { secretKey: string; nodeToken: string; demoKey: string } {
  return {
    secretKey: path.join(dataDir, 'secret-key'),
    nodeToken: path.join(dataDir, 'node-token'),
    demoKey: path.join(dataDir, 'demo-key'),
  };
}

/**
 * The result inside the ready message of the control plane; a control plane without one has nothing to tell.
 */
export function bootstrapOf(message: unknown): BootstrapResult {
  const found =
    typeof message === 'object' && message !== null && 'bootstrap' in message ? message.bootstrap : undefined;
  return typeof found === 'object' && found !== null && 'demo' in found
    ? (found as BootstrapResult)
    : { demo: false };
}
