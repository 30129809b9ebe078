/** A WebSocket class whose instances send headers when they open, which the standard one cannot. */
import { WebSocket } from 'undici';

/** The class for these headers, with the constructor of the standard WebSocket. */
export function socketWithHeaders(headers: Record<string, string>): typeof WebSocket {
  return class extends WebSocket {
    constructor(url: string | URL, protocols?: string | string[] | object) {
      const list = typeof protocols === 'string' || Array.isArray(protocols) ? protocols : [];
      super(url, { protocols: list, headers });
    }
  };
}
