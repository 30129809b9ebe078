/** Vite plugin that removes the indentation of GraphQL documents, which every page would load. */
import type { Plugin } from 'vite';

const DOCUMENT = /((?:graphql\(\s*|_TEXT = )`)([^`]+)(?=`)/g;

/** The plugin, for the console's build. White space has no meaning in the documents: they hold no strings. */
export function plainDocuments(): Plugin {
  return {
    name: 'console-plain-documents',
    apply: 'build',
    enforce: 'pre',
    transform: {
      filter: { id: /\/console\/pages\/.*\.tsx?$/ },
      handler: (code) => ({ code: code.replace(DOCUMENT, withoutIndentation), map: null }),
    },
  };
}

function withoutIndentation(_all: string, start: string, text: string): string {
  return (
    start +
    text
      .trim()
      .replace(/\s*([{}():,])\s*/g, '$1')
      .replace(/\s+/g, ' ')
  );
}
