-- Who took personal data out, when, and which.
create table segment_exports (
  id text primary key,
  segment_id text not null references segments (id),
  organization_id text not null references organizations (id),
  -- Of an account, or `root`.
  caller_id text not null,
  request_id text not null,
  columns text not null check (json_valid(columns)),
  user_count integer not null,
  created_at integer not null
) strict, without rowid;

create index segment_exports_of_segment on segment_exports (segment_id, created_at);

-- Sets of members that nobody is shown any more. Who still reads one has an hour before it is deleted, slice by slice.
create table segment_leftovers (
  segment_seq integer not null,
  epoch integer not null,
  left_at integer not null,
  primary key (segment_seq, epoch)
) strict, without rowid;

create index segment_leftovers_by_age on segment_leftovers (left_at);

-- Calculations walk through the people of an organisation in this order.
create index users_of_organization on users (organization_id, id);
