-- A count of a search keeps the rows that were found, in the order of the list: a comma and nine digits of the rowid each.
-- Later pages are a part of this text. There are few slots, because a text may have 1.5 MB.
delete from list_counts;
alter table list_counts add column hits text;

-- How often the texts of an organisation's customers changed, and which customers there are. Orders are found by them too,
-- so that a version of orders adds it and no change of a customer changes spans any more.
alter table list_sizes add column customer_changes integer not null default 0;
drop trigger users_of_orders_changed;

drop trigger users_counted;
create trigger users_counted after insert on users when new.counted_together = 0
begin
  insert into list_sizes (organization_id, customers, customer_changes) values (new.organization_id, 1, 1)
    on conflict (organization_id) do update set customers = customers + 1, customer_changes = customer_changes + 1;
end;

drop trigger users_uncounted;
create trigger users_uncounted after delete on users
begin
  update list_sizes set customers = customers - 1, customer_changes = customer_changes + 1
    where organization_id = old.organization_id;
end;

create trigger users_found_otherwise after update of search, email_folded, phone_digits, email, phone_number on users
  when (new.search, new.email_folded, new.phone_digits, new.email, new.phone_number)
    is not (old.search, old.email_folded, old.phone_digits, old.email, old.phone_number)
begin
  insert into list_sizes (organization_id, customer_changes) values (new.organization_id, 1)
    on conflict (organization_id) do update set customer_changes = customer_changes + 1;
end;

-- Who joined an edition is found in it.
drop trigger user_editions_counted;
create trigger user_editions_counted after insert on user_editions when new.counted_together = 0
begin
  insert into order_counts (span_bits, edition_id, span, customers, changes)
    values (29, new.edition_id, new.created_at >> 29, 1, 1)
    on conflict (span_bits, edition_id, span) do update set customers = customers + 1, changes = changes + 1;
end;

drop trigger user_editions_uncounted;
create trigger user_editions_uncounted after delete on user_editions
begin
  insert into order_counts (span_bits, edition_id, span, customers, changes)
    values (29, old.edition_id, old.created_at >> 29, -1, 1)
    on conflict (span_bits, edition_id, span) do update set customers = customers - 1, changes = changes + 1;
end;
