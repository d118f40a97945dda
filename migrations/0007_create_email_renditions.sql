-- Compiled messages: one of each message, sending edition and language, known by the hash of all that went into it.
create table email_renditions (
  message_id text not null references email_messages (id) on delete cascade,
  -- The edition that sends it; empty for none.
  edition_id text not null default '',
  language text not null,
  content_hash text not null,
  subject text not null,
  html text not null,
  text text not null,
  created_at integer not null,
  primary key (message_id, edition_id, language)
) strict, without rowid;

create index email_messages_of_edition on email_messages (edition_id, created_at, id) where edition_id is not null;
