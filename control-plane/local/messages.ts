/** Messages between the processes of a local start, and the files that they share in the data folder. */
import path from 'node:path';

/** Result of the control plane's bootstrap. */
export interface BootstrapResult {
  /** The claim link of the first administrator; absent once the account is claimed. */
  claimUrl?: string;
  /** Whether the demo upstream serves the models. */
  demo: boolean;
  /** The demo's API key, if it is enabled. */
  demoKey?: string;
  /** Whether top-ups with play money are offered, for which the demo's card processor runs. */
  playMoney?: boolean;
}

interface SecretFiles {
  secretKey: string;
  nodeToken: string;
  demoKey: string;
  processorKey: string;
  webhookSecret: string;
}

/** Paths of the files with secrets in the data folder; each has mode 0600. */
export function secretFiles(dataDir: string): SecretFiles {
  return {
    secretKey: path.join(dataDir, 'secret-key'),
    nodeToken: path.join(dataDir, 'node-token'),
    demoKey: path.join(dataDir, 'demo-key'),
    processorKey: path.join(dataDir, 'demo-processor-key'),
    webhookSecret: path.join(dataDir, 'demo-webhook-secret'),
  };
}

/** The bootstrap result in the control plane's ready message; `{ demo: false }` without one. */
export function bootstrapOf(message: unknown): BootstrapResult {
  const found =
    typeof message === 'object' && message !== null && 'bootstrap' in message ? message.bootstrap : undefined;
  return typeof found === 'object' && found !== null && 'demo' in found
    ? (found as BootstrapResult)
    : { demo: false };
}
