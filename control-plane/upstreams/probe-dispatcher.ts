/** The connections of a probe: to public addresses only, with the proxy and the certificate if any. */
import { Agent, ProxyAgent } from 'undici';
import type { Dispatcher } from 'undici';
import { readClientCertificate } from '@gateway/shared/clouds/secrets';
import { publicLookup } from './address-guard.ts';
import type { ProviderTarget } from './probe-target.ts';

interface ProbeLimits {
  timeoutMs: number;
  /** Maximum size of an answer, in bytes. */
  bytesMax: number;
}

/** Connections to a provider and to its token endpoint, which never sees the client certificate. */
export class ProbeDispatchers {
  readonly requests: Dispatcher;
  readonly tokens: Dispatcher;

  constructor(target: ProviderTarget, limits: ProbeLimits) {
    this.requests = dispatcherFor(target, limits);
    this.tokens = dispatcherFor({ ...target, certificate: null }, limits);
  }

  /** Closes all connections. */
  async destroy(): Promise<void> {
    await Promise.all([this.requests.destroy(), this.tokens.destroy()]);
  }
}

function dispatcherFor(
  { access, certificate, allowPrivate }: ProviderTarget,
  { timeoutMs: timeout, bytesMax }: ProbeLimits,
): Dispatcher {
  const read = certificate === null ? undefined : readClientCertificate(certificate);
  const tls = read ? { cert: read.certificate, key: read.privateKey } : {};
  const connect = { timeout, ...(!allowPrivate && { lookup: publicLookup }) };
  const limits = { headersTimeout: timeout, bodyTimeout: timeout, maxResponseSize: bytesMax };
  const uri = access?.proxyUrl ?? null;
  return uri === null
    ? new Agent({ ...limits, connect: { ...connect, ...tls } })
    : new ProxyAgent({ ...limits, uri, proxyTls: connect, requestTls: { timeout, ...tls } });
}
