/** Sends one operation to the API of a control plane. */
import type { Options } from './options.ts';

/** How long an answer may take, in ms: a file with many changes takes some seconds. */
const ANSWER_WITHIN_MS = 120_000;

/** The data of the answer. Throws an Error with the message of the first error, or if there is no answer. */
export async function askApi<Data>(
  { url, accessToken }: Pick<Options, 'url' | 'accessToken'>,
  operation: { query: string; variables?: Record<string, unknown> },
): Promise<Data> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(operation),
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  }).catch((cause: unknown) => {
    throw new Error(`${url} does not answer. Check GATEWAY_URL.`, { cause });
  });
  const answer = (await response.json().catch(() => ({}))) as { data?: Data; errors?: { message: string }[] };
  const [problem] = answer.errors ?? [];
  if (problem) throw new Error(problem.message);
  if (answer.data) return answer.data;
  throw new Error(`${url} answered with ${response.status}. Check GATEWAY_URL.`);
}
