-- What a scanner was asked, and what it said. A file without a row was taken when no scanner was configured.
create table file_scans (
  file_id text primary key references files (id) on delete cascade,
  state text not null check (state in ('pending', 'clean', 'infected')),
  reason text,
  attempts integer not null default 0,
  -- When the scanner is asked next; null once it has answered.
  due_at integer,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;

create index file_scans_due on file_scans (due_at) where due_at is not null;
