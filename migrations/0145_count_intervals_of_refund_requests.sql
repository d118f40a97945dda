-- Lead to a page of refund requests by its number in the orders of change and of the amount: an interval counts the settled
-- requests of a scope from its key (the value of the ordering, the id of the request) up to the key of the next interval, by
-- status. The first interval of each ordering begins before all requests.
create table refund_intervals (
  -- An edition or an organisation.
  scope text not null,
  ordering text not null check (ordering in ('amount', 'modified')),
  value any not null,
  id text not null,
  pending integer not null default 0,
  approved integer not null default 0,
  processing integer not null default 0,
  completed integer not null default 0,
  failed integer not null default 0,
  rejected integer not null default 0,
  cancelled integer not null default 0,
  primary key (scope, ordering, value, id)
) strict, without rowid;

-- Requests are settled, that is counted here, some minutes after their last change: `settled_lists` says of an edition from
-- which moment of change on they are not. So a new request writes nothing. A request that is changed later leaves its
-- intervals and is counted anew with its new values. `+` takes the type of a value away: it is compared as it is, and the
-- primary key is used.
create trigger refund_requests_left_intervals after delete on refund_requests
  when old.modified_at < (select until from settled_lists where list = 'refund_requests' and scope = old.edition_id)
begin
  update refund_intervals set
      pending = pending - (old.status = 'pending'),
      approved = approved - (old.status = 'approved'),
      processing = processing - (old.status = 'processing'),
      completed = completed - (old.status = 'completed'),
      failed = failed - (old.status = 'failed'),
      rejected = rejected - (old.status = 'rejected'),
      cancelled = cancelled - (old.status = 'cancelled')
    where (scope, ordering, value, id) in (
      select one.scope, one.ordering, one.value, one.id
        from (select old.edition_id as scope union all select old.organization_id) as scopes
          cross join (select 'amount' as ordering, old.requested_minor as value
            union all select 'modified', old.modified_at) as keys
          cross join refund_intervals as one on one.scope = scopes.scope and one.ordering = keys.ordering
            and (one.value, one.id) = (
              select value, id from refund_intervals as before
                where before.scope = scopes.scope and before.ordering = keys.ordering
                  and (before.value, before.id) <= (+keys.value, +old.id)
                order by before.value desc, before.id desc limit 1));
end;

create trigger refund_requests_joined_intervals after insert on refund_requests
  when new.modified_at < (select until from settled_lists where list = 'refund_requests' and scope = new.edition_id)
begin
  update refund_intervals set
      pending = pending + (new.status = 'pending'),
      approved = approved + (new.status = 'approved'),
      processing = processing + (new.status = 'processing'),
      completed = completed + (new.status = 'completed'),
      failed = failed + (new.status = 'failed'),
      rejected = rejected + (new.status = 'rejected'),
      cancelled = cancelled + (new.status = 'cancelled')
    where (scope, ordering, value, id) in (
      select one.scope, one.ordering, one.value, one.id
        from (select new.edition_id as scope union all select new.organization_id) as scopes
          cross join (select 'amount' as ordering, new.requested_minor as value
            union all select 'modified', new.modified_at) as keys
          cross join refund_intervals as one on one.scope = scopes.scope and one.ordering = keys.ordering
            and (one.value, one.id) = (
              select value, id from refund_intervals as before
                where before.scope = scopes.scope and before.ordering = keys.ordering
                  and (before.value, before.id) <= (+keys.value, +new.id)
                order by before.value desc, before.id desc limit 1));
end;

create trigger refund_requests_changed_in_intervals after update of edition_id, organization_id, modified_at, requested_minor, status on refund_requests
  when (new.edition_id, new.organization_id, new.modified_at, new.requested_minor, new.status)
    is not (old.edition_id, old.organization_id, old.modified_at, old.requested_minor, old.status)
    and old.modified_at < (select until from settled_lists where list = 'refund_requests' and scope = old.edition_id)
begin
  update refund_intervals set
      pending = pending - (old.status = 'pending'),
      approved = approved - (old.status = 'approved'),
      processing = processing - (old.status = 'processing'),
      completed = completed - (old.status = 'completed'),
      failed = failed - (old.status = 'failed'),
      rejected = rejected - (old.status = 'rejected'),
      cancelled = cancelled - (old.status = 'cancelled')
    where (scope, ordering, value, id) in (
      select one.scope, one.ordering, one.value, one.id
        from (select old.edition_id as scope union all select old.organization_id) as scopes
          cross join (select 'amount' as ordering, old.requested_minor as value
            union all select 'modified', old.modified_at) as keys
          cross join refund_intervals as one on one.scope = scopes.scope and one.ordering = keys.ordering
            and (one.value, one.id) = (
              select value, id from refund_intervals as before
                where before.scope = scopes.scope and before.ordering = keys.ordering
                  and (before.value, before.id) <= (+keys.value, +old.id)
                order by before.value desc, before.id desc limit 1));
end;

create trigger refund_requests_changed_into_intervals after update of edition_id, organization_id, modified_at, requested_minor, status on refund_requests
  when (new.edition_id, new.organization_id, new.modified_at, new.requested_minor, new.status)
    is not (old.edition_id, old.organization_id, old.modified_at, old.requested_minor, old.status)
    and new.modified_at < (select until from settled_lists where list = 'refund_requests' and scope = new.edition_id)
begin
  update refund_intervals set
      pending = pending + (new.status = 'pending'),
      approved = approved + (new.status = 'approved'),
      processing = processing + (new.status = 'processing'),
      completed = completed + (new.status = 'completed'),
      failed = failed + (new.status = 'failed'),
      rejected = rejected + (new.status = 'rejected'),
      cancelled = cancelled + (new.status = 'cancelled')
    where (scope, ordering, value, id) in (
      select one.scope, one.ordering, one.value, one.id
        from (select new.edition_id as scope union all select new.organization_id) as scopes
          cross join (select 'amount' as ordering, new.requested_minor as value
            union all select 'modified', new.modified_at) as keys
          cross join refund_intervals as one on one.scope = scopes.scope and one.ordering = keys.ordering
            and (one.value, one.id) = (
              select value, id from refund_intervals as before
                where before.scope = scopes.scope and before.ordering = keys.ordering
                  and (before.value, before.id) <= (+keys.value, +new.id)
                order by before.value desc, before.id desc limit 1));
end;
