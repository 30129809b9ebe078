/** A list of an administrators' page: loading, failed, empty, or rows with a pager under them. */
import type { ComponentProps, ReactNode } from 'react';
import type { CombinedError } from 'urql';
import { Pager } from '../../components/pager.tsx';
import type { ListPage } from '../../components/search-parameters.ts';
import { Region } from './region.tsx';

interface Connection<Row> {
  nodes: readonly Row[];
  pageInfo: NonNullable<ComponentProps<typeof Pager>['pageInfo']>;
}

interface PagedListProps<Row> {
  /** The page of the list; undefined or null while it loads. */
  connection: Connection<Row> | null | undefined;
  error: CombinedError | undefined;
  onRetry: () => void;
  /** The cursors of the address; both undefined on the first page. */
  page: ListPage;
  onGo: (page: ListPage) => void;
  /** Shown instead of the rows if there are none. */
  empty: ReactNode;
  children: (rows: readonly Row[]) => ReactNode;
}

/** Shows the rows, or `empty`, and the pager. */
export function PagedList<Row>({ connection, error, onRetry, children, ...rest }: PagedListProps<Row>) {
  const { page, onGo, empty } = rest;
  return (
    <Region data={connection} error={error} onRetry={onRetry}>
      {({ nodes, pageInfo }) => (
        <>
          {nodes.length > 0 ? children(nodes) : empty}
          <Pager page={page} pageInfo={pageInfo} onGo={onGo} />
        </>
      )}
    </Region>
  );
}
