-- An import adds the orders of a transaction to their spans in one statement, and says so: two rows are written for all
-- orders of one span, and not for each of them. Orders that are inserted otherwise are counted one by one, as before.
alter table orders add column counted_together integer not null default 0 check (counted_together in (0, 1));
drop trigger orders_counted;
create trigger orders_counted after insert on orders when new.counted_together = 0
begin
  insert into order_counts (span_bits, edition_id, span,
      pending_online, pending_in_person, pending_imported, confirmed_online, confirmed_in_person, confirmed_imported,
      completed_online, completed_in_person, completed_imported, cancelled_online, cancelled_in_person,
      cancelled_imported, changes)
    select bits.value, new.edition_id, new.created_at >> bits.value,
      new.status = 'pending' and new.type = 'online',
      new.status = 'pending' and new.type = 'in-person',
      new.status = 'pending' and new.type = 'imported',
      new.status = 'confirmed' and new.type = 'online',
      new.status = 'confirmed' and new.type = 'in-person',
      new.status = 'confirmed' and new.type = 'imported',
      new.status = 'completed' and new.type = 'online',
      new.status = 'completed' and new.type = 'in-person',
      new.status = 'completed' and new.type = 'imported',
      new.status = 'cancelled' and new.type = 'online',
      new.status = 'cancelled' and new.type = 'in-person',
      new.status = 'cancelled' and new.type = 'imported',
      1 from json_each('[21, 29]') as bits where true
    on conflict (span_bits, edition_id, span) do update set
      pending_online = pending_online + excluded.pending_online,
      pending_in_person = pending_in_person + excluded.pending_in_person,
      pending_imported = pending_imported + excluded.pending_imported,
      confirmed_online = confirmed_online + excluded.confirmed_online,
      confirmed_in_person = confirmed_in_person + excluded.confirmed_in_person,
      confirmed_imported = confirmed_imported + excluded.confirmed_imported,
      completed_online = completed_online + excluded.completed_online,
      completed_in_person = completed_in_person + excluded.completed_in_person,
      completed_imported = completed_imported + excluded.completed_imported,
      cancelled_online = cancelled_online + excluded.cancelled_online,
      cancelled_in_person = cancelled_in_person + excluded.cancelled_in_person,
      cancelled_imported = cancelled_imported + excluded.cancelled_imported,
      changes = changes + 1;
end;
