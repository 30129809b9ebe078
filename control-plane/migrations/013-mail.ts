/** Creates the outbox of mail, and the public key that encrypts its mails. */
import { Migration } from '@mikro-orm/migrations';

/** Creates the tables of mail. */
export class Mail extends Migration {
  override up(): void {
    // One row while mail can be sent. The public key encrypts a mail and cannot decrypt it.
    this.addSql(`create table mail_outlet (
      only_one boolean primary key default true check (only_one),
      public_key text not null)`);
    // Recipient, subject and text are encrypted. A row is deleted once its mail is sent.
    this.addSql(`create table mail_outbox (
      id text primary key,
      recipient_digest text not null,
      sealed text not null,
      attempts integer not null default 0,
      next_at timestamptz not null default now(),
      created_at timestamptz not null default now())`);
    this.addSql('create index on mail_outbox (next_at)');
    this.addSql('create index on mail_outbox (recipient_digest)');
  }
}
