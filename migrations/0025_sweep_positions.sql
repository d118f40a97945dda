-- Sweeps: how far they are, and when they last ran.

-- The position of each sweep that reads a part of a table or of the file store each time.
create table sweep_positions (
  name text primary key,
  after_key text not null,
  begun_at integer not null
) strict, without rowid;

-- The last run of all sweeps. It is one row, so that a minute in which nothing is due writes no more than that.
create table sweep_runs (
  id integer primary key check (id = 1),
  sweeps text not null check (json_valid(sweeps)),
  -- The last time at which a run of all sweeps ended, on the clock of the machine.
  ended_at integer not null
) strict;
