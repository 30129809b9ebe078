/** The .env file with a key. */

/** The content of a file with the environment variables that common clients read. */
export function environmentFile(key: string, baseAddress: string): string {
  return [
    `OPENAI_API_KEY=${key}`,
    `OPENAI_BASE_URL=${baseAddress}/v1`,
    `ANTHROPIC_AUTH_TOKEN=${key}`,
    `ANTHROPIC_BASE_URL=${baseAddress}`,
    `GEMINI_API_KEY=${key}`,
    `GOOGLE_GEMINI_BASE_URL=${baseAddress}`,
    '',
  ].join('\n');
}
