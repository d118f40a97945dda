-- Lead to the deliveries of an edition among those of an endpoint. A pack has up to 512 deliveries of one edition and one kind in
-- the order of their creation, as JSON: [["whd_…", 1767225600000], …]. A sweep packs them behind the writes, so that a delivery
-- writes no row more. Neither its edition nor its place among them ever changes: nothing else writes packs, and retention deletes
-- those of which nothing is left. `settled_lists` says of an endpoint up to which moment its deliveries are packed.
create table delivery_packs (
  endpoint_id text not null,
  edition_id text not null,
  kind text not null,
  -- That of the first delivery.
  first_created_at integer not null,
  -- Packs of one edition and kind are numbered in their order.
  number integer not null,
  size integer not null,
  entries text not null,
  primary key (endpoint_id, edition_id, kind, first_created_at, number)
) strict, without rowid;

-- What does change of deliveries stands in rows of their own, and few deliveries have any: the last changes of those that changed
-- more than five minutes after they were made ('late'), and those that ended without success, by their kind and creation ('failed',
-- 'exhausted') and by their last change ('failed by change', 'exhausted by change'). Triggers keep them.
create table edition_deliveries (
  endpoint_id text not null,
  edition_id text not null,
  list text not null check (list in ('late', 'failed', 'exhausted', 'failed by change', 'exhausted by change')),
  -- Empty where the order is that of last changes.
  kind text not null,
  at integer not null,
  id text not null,
  primary key (endpoint_id, edition_id, list, kind, at, id)
) strict, without rowid;

insert into edition_deliveries (endpoint_id, edition_id, list, kind, at, id)
  select endpoint_id, edition_id, 'late', '', modified_at, webhook_deliveries.id
  from webhook_deliveries cross join webhook_events on webhook_events.id = event_id
  where modified_at not between webhook_deliveries.created_at and webhook_deliveries.created_at + 300000 and edition_id is not null;

insert into edition_deliveries (endpoint_id, edition_id, list, kind, at, id)
  select endpoint_id, edition_id, iif(by_change.value, status || ' by change', status),
    iif(by_change.value, '', webhook_deliveries.kind), iif(by_change.value, modified_at, webhook_deliveries.created_at), webhook_deliveries.id
  from webhook_deliveries cross join webhook_events on webhook_events.id = event_id cross join json_each('[0,1]') as by_change
  where status in ('failed', 'exhausted') and edition_id is not null;

create trigger webhook_deliveries_came_to_editions after insert on webhook_deliveries
  when new.modified_at not between new.created_at and new.created_at + 300000 or new.status in ('failed', 'exhausted')
begin
  insert or ignore into edition_deliveries (endpoint_id, edition_id, list, kind, at, id)
    select new.endpoint_id, edition_id, list, key.kind, at, new.id
    from (select 'late' as list, '' as kind, new.modified_at as at
        where new.modified_at not between new.created_at and new.created_at + 300000
      union all select new.status, new.kind, new.created_at where new.status in ('failed', 'exhausted')
      union all select new.status || ' by change', '', new.modified_at where new.status in ('failed', 'exhausted')) as key
      cross join webhook_events on webhook_events.id = new.event_id and edition_id is not null;
end;

create trigger webhook_deliveries_changed_in_editions after update of status, modified_at on webhook_deliveries
  when (new.status, new.modified_at) is not (old.status, old.modified_at)
    and (new.modified_at not between new.created_at and new.created_at + 300000
      or old.modified_at not between old.created_at and old.created_at + 300000
      or new.status in ('failed', 'exhausted') or old.status in ('failed', 'exhausted'))
begin
  delete from edition_deliveries
    where endpoint_id = old.endpoint_id and edition_id = (select edition_id from webhook_events where id = old.event_id)
      and list = 'late' and kind = '' and at = old.modified_at and id = old.id and new.modified_at <> old.modified_at;
  delete from edition_deliveries
    where endpoint_id = old.endpoint_id and edition_id = (select edition_id from webhook_events where id = old.event_id)
      and list = old.status and kind = old.kind and at = old.created_at and id = old.id and new.status <> old.status;
  delete from edition_deliveries
    where endpoint_id = old.endpoint_id and edition_id = (select edition_id from webhook_events where id = old.event_id)
      and list = old.status || ' by change' and kind = '' and at = old.modified_at and id = old.id;
  insert or ignore into edition_deliveries (endpoint_id, edition_id, list, kind, at, id)
    select new.endpoint_id, edition_id, list, key.kind, at, new.id
    from (select 'late' as list, '' as kind, new.modified_at as at
        where new.modified_at not between new.created_at and new.created_at + 300000
      union all select new.status, new.kind, new.created_at where new.status in ('failed', 'exhausted')
      union all select new.status || ' by change', '', new.modified_at where new.status in ('failed', 'exhausted')) as key
      cross join webhook_events on webhook_events.id = new.event_id and edition_id is not null;
end;

create trigger webhook_deliveries_went_from_editions after delete on webhook_deliveries
  when old.modified_at not between old.created_at and old.created_at + 300000 or old.status in ('failed', 'exhausted')
begin
  delete from edition_deliveries
    where endpoint_id = old.endpoint_id and edition_id = (select edition_id from webhook_events where id = old.event_id)
      and list = 'late' and kind = '' and at = old.modified_at and id = old.id;
  delete from edition_deliveries
    where endpoint_id = old.endpoint_id and edition_id = (select edition_id from webhook_events where id = old.event_id)
      and list = old.status and kind = old.kind and at = old.created_at and id = old.id;
  delete from edition_deliveries
    where endpoint_id = old.endpoint_id and edition_id = (select edition_id from webhook_events where id = old.event_id)
      and list = old.status || ' by change' and kind = '' and at = old.modified_at and id = old.id;
end;

drop trigger webhook_endpoints_uncounted;
create trigger webhook_endpoints_uncounted after delete on webhook_endpoints
begin
  delete from list_spans where list = 'webhook_deliveries' and scope = old.id;
  delete from list_span_parts where list = 'webhook_deliveries' and scope = old.id;
  delete from delivery_intervals where scope = old.id;
  delete from delivery_packs where endpoint_id = old.id;
  delete from edition_deliveries where endpoint_id = old.id;
  delete from settled_lists where list in ('webhook_deliveries', 'delivery_intervals', 'delivery_packs') and scope = old.id;
end;
