-- Counts of lists that nothing counts beforehand, such as those of a search. A count holds for one state of the editions
-- that the list is of: `version` is the sum of `order_counts.changes`. Each key has one place, which a later count takes.
create table list_counts (
  slot integer primary key,
  -- A hash of what the list is asked for, because filters may name people.
  key text not null,
  version integer not null,
  total integer not null,
  counted_at integer not null
) strict;
