-- Sweeps that read a part of a table or of the file store each time.

-- The position that each of these sweeps has reached.
create table sweep_positions (
  name text primary key,
  after_key text not null,
  begun_at integer not null
) strict, without rowid;
