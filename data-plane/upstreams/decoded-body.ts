/** Decodes the body of an upstream's answer while it arrives. */
import { asGatewayError } from '@gateway/shared/failures';
import type { GatewayError } from '@gateway/shared/failures';

/** Decodes a body while it arrives. */
export interface BodyDecoder {
  push(chunk: Buffer): Buffer;
  /** Called after the clean end of the body. Throws `upstream_failed` if the body is not complete. */
  end(): Buffer;
}

/** Receives the body: `data` per network chunk, then exactly one of `end` and `fail`. */
export interface Consumer {
  data(chunk: Buffer): void;
  end(): void;
  fail(error: GatewayError): void;
}

/** A consumer of the encoded body. An undecodable body fails, and `answer` is aborted. */
export function decoded(
  consumer: Consumer,
  decoder: BodyDecoder,
  answer: { abort(error: GatewayError): void },
): Consumer {
  let isBroken = false;
  const fail = (error: GatewayError): void => {
    if (isBroken) return;
    isBroken = true;
    consumer.fail(error);
  };
  const deliver = (decode: () => Buffer): void => {
    if (isBroken) return;
    try {
      const bytes = decode();
      if (bytes.length > 0) consumer.data(bytes);
    } catch (cause) {
      const error = asGatewayError(cause);
      answer.abort(error);
      fail(error);
    }
  };
  return {
    data: (chunk) => deliver(() => decoder.push(chunk)),
    end: () => {
      deliver(() => decoder.end());
      if (!isBroken) consumer.end();
    },
    fail,
  };
}
