-- Lead to a page by its number in an order that no span of time has: an interval counts the settled orders of a scope from
-- its key (the value of the ordering, the moment of creation, the number of the row) up to the key of the next interval, by
-- status and type. The first interval of each ordering begins before all orders.
create table order_intervals (
  -- An edition or an organisation.
  scope text not null,
  ordering text not null check (ordering in ('amount', 'modified', 'number', 'unnumbered')),
  value any not null,
  created_at integer not null,
  seq integer not null,
  pending_online integer not null default 0,
  pending_in_person integer not null default 0,
  pending_imported integer not null default 0,
  confirmed_online integer not null default 0,
  confirmed_in_person integer not null default 0,
  confirmed_imported integer not null default 0,
  completed_online integer not null default 0,
  completed_in_person integer not null default 0,
  completed_imported integer not null default 0,
  cancelled_online integer not null default 0,
  cancelled_in_person integer not null default 0,
  cancelled_imported integer not null default 0,
  primary key (scope, ordering, value, created_at, seq)
) strict, without rowid;

-- Orders are settled, that is counted here, some minutes after their last change: `settled_lists` says of an edition from
-- which moment of change on they are not. So a new order writes nothing. An order that is changed later leaves its intervals
-- and is counted anew with its new values. Where a list compares the value with one of another table, `+` takes its type
-- away: numbers and texts are compared as they are, and indexes are used.
create trigger orders_left_intervals after delete on orders
  when old.modified_at < (select until from settled_lists where list = 'orders' and scope = old.edition_id)
begin
  update order_intervals set
      pending_online = pending_online - (old.status = 'pending' and old.type = 'online'),
      pending_in_person = pending_in_person - (old.status = 'pending' and old.type = 'in-person'),
      pending_imported = pending_imported - (old.status = 'pending' and old.type = 'imported'),
      confirmed_online = confirmed_online - (old.status = 'confirmed' and old.type = 'online'),
      confirmed_in_person = confirmed_in_person - (old.status = 'confirmed' and old.type = 'in-person'),
      confirmed_imported = confirmed_imported - (old.status = 'confirmed' and old.type = 'imported'),
      completed_online = completed_online - (old.status = 'completed' and old.type = 'online'),
      completed_in_person = completed_in_person - (old.status = 'completed' and old.type = 'in-person'),
      completed_imported = completed_imported - (old.status = 'completed' and old.type = 'imported'),
      cancelled_online = cancelled_online - (old.status = 'cancelled' and old.type = 'online'),
      cancelled_in_person = cancelled_in_person - (old.status = 'cancelled' and old.type = 'in-person'),
      cancelled_imported = cancelled_imported - (old.status = 'cancelled' and old.type = 'imported')
    where (scope, ordering, value, created_at, seq) in (
      select one.scope, one.ordering, one.value, one.created_at, one.seq
        from (select old.edition_id as scope union all select old.organization_id) as scopes
          cross join (select 'amount' as ordering, old.amount_minor as value
            union all select 'modified', old.modified_at
            union all select iif(old.number_key is null, 'unnumbered', 'number'), coalesce(old.number_key, 0)) as keys
          cross join order_intervals as one on one.scope = scopes.scope and one.ordering = keys.ordering
            and (one.value, one.created_at, one.seq) = (
              select value, created_at, seq from order_intervals as before
                where before.scope = scopes.scope and before.ordering = keys.ordering
                  and (before.value, before.created_at, before.seq) <= (+keys.value, +old.created_at, +old.seq)
                order by before.value desc, before.created_at desc, before.seq desc limit 1));
end;

create trigger orders_joined_intervals after insert on orders
  when new.modified_at < (select until from settled_lists where list = 'orders' and scope = new.edition_id)
begin
  update order_intervals set
      pending_online = pending_online + (new.status = 'pending' and new.type = 'online'),
      pending_in_person = pending_in_person + (new.status = 'pending' and new.type = 'in-person'),
      pending_imported = pending_imported + (new.status = 'pending' and new.type = 'imported'),
      confirmed_online = confirmed_online + (new.status = 'confirmed' and new.type = 'online'),
      confirmed_in_person = confirmed_in_person + (new.status = 'confirmed' and new.type = 'in-person'),
      confirmed_imported = confirmed_imported + (new.status = 'confirmed' and new.type = 'imported'),
      completed_online = completed_online + (new.status = 'completed' and new.type = 'online'),
      completed_in_person = completed_in_person + (new.status = 'completed' and new.type = 'in-person'),
      completed_imported = completed_imported + (new.status = 'completed' and new.type = 'imported'),
      cancelled_online = cancelled_online + (new.status = 'cancelled' and new.type = 'online'),
      cancelled_in_person = cancelled_in_person + (new.status = 'cancelled' and new.type = 'in-person'),
      cancelled_imported = cancelled_imported + (new.status = 'cancelled' and new.type = 'imported')
    where (scope, ordering, value, created_at, seq) in (
      select one.scope, one.ordering, one.value, one.created_at, one.seq
        from (select new.edition_id as scope union all select new.organization_id) as scopes
          cross join (select 'amount' as ordering, new.amount_minor as value
            union all select 'modified', new.modified_at
            union all select iif(new.number_key is null, 'unnumbered', 'number'), coalesce(new.number_key, 0)) as keys
          cross join order_intervals as one on one.scope = scopes.scope and one.ordering = keys.ordering
            and (one.value, one.created_at, one.seq) = (
              select value, created_at, seq from order_intervals as before
                where before.scope = scopes.scope and before.ordering = keys.ordering
                  and (before.value, before.created_at, before.seq) <= (+keys.value, +new.created_at, +new.seq)
                order by before.value desc, before.created_at desc, before.seq desc limit 1));
end;

create trigger orders_changed_in_intervals after update of edition_id, created_at, modified_at, status, type, amount_minor, number_key on orders
  when (new.edition_id, new.created_at, new.modified_at, new.status, new.type, new.amount_minor, new.number_key)
    is not (old.edition_id, old.created_at, old.modified_at, old.status, old.type, old.amount_minor, old.number_key)
    and old.modified_at < (select until from settled_lists where list = 'orders' and scope = old.edition_id)
begin
  update order_intervals set
      pending_online = pending_online - (old.status = 'pending' and old.type = 'online'),
      pending_in_person = pending_in_person - (old.status = 'pending' and old.type = 'in-person'),
      pending_imported = pending_imported - (old.status = 'pending' and old.type = 'imported'),
      confirmed_online = confirmed_online - (old.status = 'confirmed' and old.type = 'online'),
      confirmed_in_person = confirmed_in_person - (old.status = 'confirmed' and old.type = 'in-person'),
      confirmed_imported = confirmed_imported - (old.status = 'confirmed' and old.type = 'imported'),
      completed_online = completed_online - (old.status = 'completed' and old.type = 'online'),
      completed_in_person = completed_in_person - (old.status = 'completed' and old.type = 'in-person'),
      completed_imported = completed_imported - (old.status = 'completed' and old.type = 'imported'),
      cancelled_online = cancelled_online - (old.status = 'cancelled' and old.type = 'online'),
      cancelled_in_person = cancelled_in_person - (old.status = 'cancelled' and old.type = 'in-person'),
      cancelled_imported = cancelled_imported - (old.status = 'cancelled' and old.type = 'imported')
    where (scope, ordering, value, created_at, seq) in (
      select one.scope, one.ordering, one.value, one.created_at, one.seq
        from (select old.edition_id as scope union all select old.organization_id) as scopes
          cross join (select 'amount' as ordering, old.amount_minor as value
            union all select 'modified', old.modified_at
            union all select iif(old.number_key is null, 'unnumbered', 'number'), coalesce(old.number_key, 0)) as keys
          cross join order_intervals as one on one.scope = scopes.scope and one.ordering = keys.ordering
            and (one.value, one.created_at, one.seq) = (
              select value, created_at, seq from order_intervals as before
                where before.scope = scopes.scope and before.ordering = keys.ordering
                  and (before.value, before.created_at, before.seq) <= (+keys.value, +old.created_at, +old.seq)
                order by before.value desc, before.created_at desc, before.seq desc limit 1));
end;

create trigger orders_changed_into_intervals after update of edition_id, created_at, modified_at, status, type, amount_minor, number_key on orders
  when (new.edition_id, new.created_at, new.modified_at, new.status, new.type, new.amount_minor, new.number_key)
    is not (old.edition_id, old.created_at, old.modified_at, old.status, old.type, old.amount_minor, old.number_key)
    and new.modified_at < (select until from settled_lists where list = 'orders' and scope = new.edition_id)
begin
  update order_intervals set
      pending_online = pending_online + (new.status = 'pending' and new.type = 'online'),
      pending_in_person = pending_in_person + (new.status = 'pending' and new.type = 'in-person'),
      pending_imported = pending_imported + (new.status = 'pending' and new.type = 'imported'),
      confirmed_online = confirmed_online + (new.status = 'confirmed' and new.type = 'online'),
      confirmed_in_person = confirmed_in_person + (new.status = 'confirmed' and new.type = 'in-person'),
      confirmed_imported = confirmed_imported + (new.status = 'confirmed' and new.type = 'imported'),
      completed_online = completed_online + (new.status = 'completed' and new.type = 'online'),
      completed_in_person = completed_in_person + (new.status = 'completed' and new.type = 'in-person'),
      completed_imported = completed_imported + (new.status = 'completed' and new.type = 'imported'),
      cancelled_online = cancelled_online + (new.status = 'cancelled' and new.type = 'online'),
      cancelled_in_person = cancelled_in_person + (new.status = 'cancelled' and new.type = 'in-person'),
      cancelled_imported = cancelled_imported + (new.status = 'cancelled' and new.type = 'imported')
    where (scope, ordering, value, created_at, seq) in (
      select one.scope, one.ordering, one.value, one.created_at, one.seq
        from (select new.edition_id as scope union all select new.organization_id) as scopes
          cross join (select 'amount' as ordering, new.amount_minor as value
            union all select 'modified', new.modified_at
            union all select iif(new.number_key is null, 'unnumbered', 'number'), coalesce(new.number_key, 0)) as keys
          cross join order_intervals as one on one.scope = scopes.scope and one.ordering = keys.ordering
            and (one.value, one.created_at, one.seq) = (
              select value, created_at, seq from order_intervals as before
                where before.scope = scopes.scope and before.ordering = keys.ordering
                  and (before.value, before.created_at, before.seq) <= (+keys.value, +new.created_at, +new.seq)
                order by before.value desc, before.created_at desc, before.seq desc limit 1));
end;
