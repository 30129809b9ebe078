/** Stores the workers of a node as rows that name their node. The row of a node is its worker 1. */
import { Migration } from '@mikro-orm/migrations';

const WORKERS = `
  alter table data_plane_node
    add column worker_of text references data_plane_node (id),
    add column worker integer not null default 1;
  alter table data_plane_node add constraint data_plane_node_worker_check
    check (worker >= 1 and (worker_of is null) = (worker = 1));
  create unique index data_plane_node_worker on data_plane_node (worker_of, worker)
    where worker_of is not null;
`;

/** Creates the columns of workers. */
export class Workers extends Migration {
  override up(): void {
    this.addSql(WORKERS);
  }
}
