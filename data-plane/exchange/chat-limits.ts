/** Limits of a chat request that one flat price of a model pays for. Pure. */
import { invalidRequest } from '../call/refusals.ts';
import type { SoldModel } from '../config/config.ts';
import type { ChatRequest } from '../dialects/canonical.ts';

/** Throws `invalid_request` if a request is larger than the model's limits. `refusePriced` refuses tiers. */
export function checkChatLimits(request: ChatRequest, sizeBytes: number, { name, limits }: SoldModel): void {
  if (request.choices > limits.maxChoices) {
    throw invalidRequest(
      `${name} gives at most ${limits.maxChoices} answers per request. Ask for fewer.`,
      request.pointers.choices,
    );
  }
  if (sizeBytes > limits.maxBodyBytes) {
    throw invalidRequest(
      `${name} takes requests of at most ${limits.maxBodyBytes} bytes. Send a smaller one.`,
    );
  }
}
