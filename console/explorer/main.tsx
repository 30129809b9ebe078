/** The API explorer at /graphql: GraphiQL, using the console's session or a pasted access token. */
import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import './explorer.css';
import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { GraphiQL } from 'graphiql';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { theme } from '../components/theme.ts';

const FIRST_QUERY = `# Queries run with your console session. To use an access token instead, create one
# (Profile, Access tokens) and add it under "Headers": { "authorization": "Bearer gqt_…" }
query Start {
  viewer {
    displayName
    wallet {
      available
    }
  }
  catalog {
    nodes {
      name
      pricePerRequest
    }
  }
}
`;

const place = document.getElementById('explorer');
if (!place) throw new Error('index.html has no #explorer');

const address = new URL('/graphql', location.href);
const socket = new URL(address);
socket.protocol = address.protocol.replace('http', 'ws');
const fetcher = createGraphiQLFetcher({ url: address.href, subscriptionUrl: socket.href });
const chosen = theme.get();
/** An operation from the link. It is only shown; the user has to run it. */
const linked = new URLSearchParams(location.search).get('query');

// Queries may contain passwords and tokens: they are kept for this tab only, and headers are not kept at all.
// The history plugin is left out because it would store them.
createRoot(place).render(
  <StrictMode>
    <GraphiQL
      fetcher={fetcher}
      defaultQuery={FIRST_QUERY}
      {...(linked !== null && { initialQuery: linked })}
      defaultTheme={chosen === 'system' ? null : chosen}
      storage={sessionStorage}
      plugins={[]}
      showPersistHeadersSettings={false}
    >
      <GraphiQL.Logo>
        <a href="/">Gateway</a>
      </GraphiQL.Logo>
    </GraphiQL>
  </StrictMode>,
);
