-- Sweeps that read a part of a table or of the file store each time.

-- How far each of these sweeps has come.
create table sweep_positions (
  name text primary key,
  after_key text not null,
  begun_at integer not null
) strict, without rowid;
