-- Counts of the refund requests of an organisation also have those of its editions, so that a row of them counts for a role of
-- several. A name begins with the end of the id of an edition, and has a status, a reason, a source, all or none of them:
-- `{"4B6D8F0H,,,": 3, "4B6D8F0H,approved,,": 2}`. `,,,` is how many requests have such names. No row is written for it.

drop trigger organization_refunds_counted;
create trigger organization_refunds_counted after insert on refund_requests
begin
  insert into list_spans (list, scope, span, counts, total)
    values ('organization_refund_requests', new.organization_id, new.created_at >> 28, json_object(
      new.status || ' ' || new.reason || ' ' || new.source, 1,
      ',,,', 1,
      substr(new.edition_id, -8) || ',,,', 1,
      substr(new.edition_id, -8) || ',' || new.status || ',,', 1,
      substr(new.edition_id, -8) || ',,' || new.reason || ',', 1,
      substr(new.edition_id, -8) || ',,,' || new.source, 1,
      substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source, 1), 1)
    on conflict (list, scope, span) do update set total = total + 1, counts = json_set(counts,
      '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1,
      '$.",,,"', coalesce(counts ->> ('$.",,,"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',,,' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,,' || '"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',' || new.status || ',,' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',' || new.status || ',,' || '"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',,' || new.reason || ',' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,' || new.reason || ',' || '"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',,,' || new.source || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,,' || new.source || '"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source || '"'), 0) + 1);
end;

drop trigger organization_refunds_uncounted;
create trigger organization_refunds_uncounted after delete on refund_requests
begin
  update list_spans set total = total - 1, counts = json_set(counts,
      '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1,
      '$.",,,"', coalesce(counts ->> ('$.",,,"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',,,' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,,' || '"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',' || old.status || ',,' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',' || old.status || ',,' || '"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',,' || old.reason || ',' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,' || old.reason || ',' || '"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',,,' || old.source || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,,' || old.source || '"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',' || old.status || ',' || old.reason || ',' || old.source || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',' || old.status || ',' || old.reason || ',' || old.source || '"'), 0) - 1)
    where list = 'organization_refund_requests' and scope = old.organization_id and span = old.created_at >> 28;
end;

drop trigger organization_refunds_recounted;
create trigger organization_refunds_recounted after update of status, reason, source, edition_id on refund_requests
  when (new.status, new.reason, new.source, new.edition_id) is not (old.status, old.reason, old.source, old.edition_id)
    and (new.organization_id, new.created_at >> 28) is (old.organization_id, old.created_at >> 28)
begin
  update list_spans set counts = json_set(counts,
      '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1,
      '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1 - ((new.status || ' ' || new.reason || ' ' || new.source) = (old.status || ' ' || old.reason || ' ' || old.source)),
      '$."' || substr(old.edition_id, -8) || ',,,' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,,' || '"'), 0) - 1,
      '$."' || substr(new.edition_id, -8) || ',,,' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,,' || '"'), 0) + 1 - ((substr(new.edition_id, -8) || ',,,') = (substr(old.edition_id, -8) || ',,,')),
      '$."' || substr(old.edition_id, -8) || ',' || old.status || ',,' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',' || old.status || ',,' || '"'), 0) - 1,
      '$."' || substr(new.edition_id, -8) || ',' || new.status || ',,' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',' || new.status || ',,' || '"'), 0) + 1 - ((substr(new.edition_id, -8) || ',' || new.status || ',,') = (substr(old.edition_id, -8) || ',' || old.status || ',,')),
      '$."' || substr(old.edition_id, -8) || ',,' || old.reason || ',' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,' || old.reason || ',' || '"'), 0) - 1,
      '$."' || substr(new.edition_id, -8) || ',,' || new.reason || ',' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,' || new.reason || ',' || '"'), 0) + 1 - ((substr(new.edition_id, -8) || ',,' || new.reason || ',') = (substr(old.edition_id, -8) || ',,' || old.reason || ',')),
      '$."' || substr(old.edition_id, -8) || ',,,' || old.source || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,,' || old.source || '"'), 0) - 1,
      '$."' || substr(new.edition_id, -8) || ',,,' || new.source || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,,' || new.source || '"'), 0) + 1 - ((substr(new.edition_id, -8) || ',,,' || new.source) = (substr(old.edition_id, -8) || ',,,' || old.source)),
      '$."' || substr(old.edition_id, -8) || ',' || old.status || ',' || old.reason || ',' || old.source || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',' || old.status || ',' || old.reason || ',' || old.source || '"'), 0) - 1,
      '$."' || substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source || '"'), 0) + 1 - ((substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source) = (substr(old.edition_id, -8) || ',' || old.status || ',' || old.reason || ',' || old.source)))
    where list = 'organization_refund_requests' and scope = new.organization_id and span = new.created_at >> 28;
end;

drop trigger organization_refunds_moved;
create trigger organization_refunds_moved after update of organization_id, created_at on refund_requests
  when (new.organization_id, new.created_at >> 28) is not (old.organization_id, old.created_at >> 28)
begin
  update list_spans set total = total - 1, counts = json_set(counts,
      '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1,
      '$.",,,"', coalesce(counts ->> ('$.",,,"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',,,' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,,' || '"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',' || old.status || ',,' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',' || old.status || ',,' || '"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',,' || old.reason || ',' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,' || old.reason || ',' || '"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',,,' || old.source || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,,' || old.source || '"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',' || old.status || ',' || old.reason || ',' || old.source || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',' || old.status || ',' || old.reason || ',' || old.source || '"'), 0) - 1)
    where list = 'organization_refund_requests' and scope = old.organization_id and span = old.created_at >> 28;
  insert into list_spans (list, scope, span, counts, total)
    values ('organization_refund_requests', new.organization_id, new.created_at >> 28, json_object(
      new.status || ' ' || new.reason || ' ' || new.source, 1,
      ',,,', 1,
      substr(new.edition_id, -8) || ',,,', 1,
      substr(new.edition_id, -8) || ',' || new.status || ',,', 1,
      substr(new.edition_id, -8) || ',,' || new.reason || ',', 1,
      substr(new.edition_id, -8) || ',,,' || new.source, 1,
      substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source, 1), 1)
    on conflict (list, scope, span) do update set total = total + 1, counts = json_set(counts,
      '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1,
      '$.",,,"', coalesce(counts ->> ('$.",,,"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',,,' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,,' || '"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',' || new.status || ',,' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',' || new.status || ',,' || '"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',,' || new.reason || ',' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,' || new.reason || ',' || '"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',,,' || new.source || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,,' || new.source || '"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source || '"'), 0) + 1);
end;

drop trigger organization_refunds_counted_in_parts;
create trigger organization_refunds_counted_in_parts after insert on refund_requests
  when exists (select 1 from list_span_parts where list = 'organization_refund_requests' and scope = new.organization_id
    and bits = 24 and span >= (new.created_at >> 28) << 4 and span < ((new.created_at >> 28) + 1) << 4)
begin
  insert into list_span_parts (list, scope, bits, span, counts, total)
    select 'organization_refund_requests', new.organization_id, bits, new.created_at >> bits, json_object(
      new.status || ' ' || new.reason || ' ' || new.source, 1,
      ',,,', 1,
      substr(new.edition_id, -8) || ',,,', 1,
      substr(new.edition_id, -8) || ',' || new.status || ',,', 1,
      substr(new.edition_id, -8) || ',,' || new.reason || ',', 1,
      substr(new.edition_id, -8) || ',,,' || new.source, 1,
      substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source, 1), 1
    from (select value as bits, iif(value = 24, 28, value + 3) as above from json_each('[24,21,18,15,12,9,6,3,0]')) as level
    where exists (select 1 from list_span_parts as part
      where part.list = 'organization_refund_requests' and part.scope = new.organization_id and part.bits = level.bits
        and part.span >= (new.created_at >> above) << (above - level.bits)
        and part.span < ((new.created_at >> above) + 1) << (above - level.bits))
    on conflict (list, scope, bits, span) do update set total = total + 1, counts = json_set(counts,
      '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1,
      '$.",,,"', coalesce(counts ->> ('$.",,,"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',,,' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,,' || '"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',' || new.status || ',,' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',' || new.status || ',,' || '"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',,' || new.reason || ',' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,' || new.reason || ',' || '"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',,,' || new.source || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,,' || new.source || '"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source || '"'), 0) + 1);
end;

drop trigger organization_refunds_uncounted_in_parts;
create trigger organization_refunds_uncounted_in_parts after delete on refund_requests
  when exists (select 1 from list_span_parts where list = 'organization_refund_requests' and scope = old.organization_id
    and bits = 24 and span >= (old.created_at >> 28) << 4 and span < ((old.created_at >> 28) + 1) << 4)
begin
  update list_span_parts set total = total - 1, counts = json_set(counts,
      '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1,
      '$.",,,"', coalesce(counts ->> ('$.",,,"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',,,' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,,' || '"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',' || old.status || ',,' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',' || old.status || ',,' || '"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',,' || old.reason || ',' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,' || old.reason || ',' || '"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',,,' || old.source || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,,' || old.source || '"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',' || old.status || ',' || old.reason || ',' || old.source || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',' || old.status || ',' || old.reason || ',' || old.source || '"'), 0) - 1)
    where (list, scope, bits, span) in (select 'organization_refund_requests', old.organization_id, value, old.created_at >> value from json_each('[24,21,18,15,12,9,6,3,0]'));
end;

drop trigger organization_refunds_recounted_in_parts;
create trigger organization_refunds_recounted_in_parts after update of status, reason, source, edition_id on refund_requests
  when (new.status, new.reason, new.source, new.edition_id) is not (old.status, old.reason, old.source, old.edition_id)
    and (new.organization_id, new.created_at) is (old.organization_id, old.created_at)
    and exists (select 1 from list_span_parts where list = 'organization_refund_requests' and scope = new.organization_id
    and bits = 24 and span >= (new.created_at >> 28) << 4 and span < ((new.created_at >> 28) + 1) << 4)
begin
  update list_span_parts set counts = json_set(counts,
      '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1,
      '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1 - ((new.status || ' ' || new.reason || ' ' || new.source) = (old.status || ' ' || old.reason || ' ' || old.source)),
      '$."' || substr(old.edition_id, -8) || ',,,' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,,' || '"'), 0) - 1,
      '$."' || substr(new.edition_id, -8) || ',,,' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,,' || '"'), 0) + 1 - ((substr(new.edition_id, -8) || ',,,') = (substr(old.edition_id, -8) || ',,,')),
      '$."' || substr(old.edition_id, -8) || ',' || old.status || ',,' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',' || old.status || ',,' || '"'), 0) - 1,
      '$."' || substr(new.edition_id, -8) || ',' || new.status || ',,' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',' || new.status || ',,' || '"'), 0) + 1 - ((substr(new.edition_id, -8) || ',' || new.status || ',,') = (substr(old.edition_id, -8) || ',' || old.status || ',,')),
      '$."' || substr(old.edition_id, -8) || ',,' || old.reason || ',' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,' || old.reason || ',' || '"'), 0) - 1,
      '$."' || substr(new.edition_id, -8) || ',,' || new.reason || ',' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,' || new.reason || ',' || '"'), 0) + 1 - ((substr(new.edition_id, -8) || ',,' || new.reason || ',') = (substr(old.edition_id, -8) || ',,' || old.reason || ',')),
      '$."' || substr(old.edition_id, -8) || ',,,' || old.source || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,,' || old.source || '"'), 0) - 1,
      '$."' || substr(new.edition_id, -8) || ',,,' || new.source || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,,' || new.source || '"'), 0) + 1 - ((substr(new.edition_id, -8) || ',,,' || new.source) = (substr(old.edition_id, -8) || ',,,' || old.source)),
      '$."' || substr(old.edition_id, -8) || ',' || old.status || ',' || old.reason || ',' || old.source || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',' || old.status || ',' || old.reason || ',' || old.source || '"'), 0) - 1,
      '$."' || substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source || '"'), 0) + 1 - ((substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source) = (substr(old.edition_id, -8) || ',' || old.status || ',' || old.reason || ',' || old.source)))
    where (list, scope, bits, span) in (select 'organization_refund_requests', new.organization_id, value, new.created_at >> value from json_each('[24,21,18,15,12,9,6,3,0]'));
end;

drop trigger organization_refunds_moved_in_parts;
create trigger organization_refunds_moved_in_parts after update of organization_id, created_at on refund_requests
  when (new.organization_id, new.created_at) is not (old.organization_id, old.created_at)
begin
  update list_span_parts set total = total - 1, counts = json_set(counts,
      '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1,
      '$.",,,"', coalesce(counts ->> ('$.",,,"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',,,' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,,' || '"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',' || old.status || ',,' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',' || old.status || ',,' || '"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',,' || old.reason || ',' || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,' || old.reason || ',' || '"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',,,' || old.source || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',,,' || old.source || '"'), 0) - 1,
      '$."' || substr(old.edition_id, -8) || ',' || old.status || ',' || old.reason || ',' || old.source || '"', coalesce(counts ->> ('$."' || substr(old.edition_id, -8) || ',' || old.status || ',' || old.reason || ',' || old.source || '"'), 0) - 1)
    where (list, scope, bits, span) in (select 'organization_refund_requests', old.organization_id, value, old.created_at >> value from json_each('[24,21,18,15,12,9,6,3,0]'));
  insert into list_span_parts (list, scope, bits, span, counts, total)
    select 'organization_refund_requests', new.organization_id, bits, new.created_at >> bits, json_object(
      new.status || ' ' || new.reason || ' ' || new.source, 1,
      ',,,', 1,
      substr(new.edition_id, -8) || ',,,', 1,
      substr(new.edition_id, -8) || ',' || new.status || ',,', 1,
      substr(new.edition_id, -8) || ',,' || new.reason || ',', 1,
      substr(new.edition_id, -8) || ',,,' || new.source, 1,
      substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source, 1), 1
    from (select value as bits, iif(value = 24, 28, value + 3) as above from json_each('[24,21,18,15,12,9,6,3,0]')) as level
    where exists (select 1 from list_span_parts as part
      where part.list = 'organization_refund_requests' and part.scope = new.organization_id and part.bits = level.bits
        and part.span >= (new.created_at >> above) << (above - level.bits)
        and part.span < ((new.created_at >> above) + 1) << (above - level.bits))
    on conflict (list, scope, bits, span) do update set total = total + 1, counts = json_set(counts,
      '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1,
      '$.",,,"', coalesce(counts ->> ('$.",,,"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',,,' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,,' || '"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',' || new.status || ',,' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',' || new.status || ',,' || '"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',,' || new.reason || ',' || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,' || new.reason || ',' || '"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',,,' || new.source || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',,,' || new.source || '"'), 0) + 1,
      '$."' || substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source || '"', coalesce(counts ->> ('$."' || substr(new.edition_id, -8) || ',' || new.status || ',' || new.reason || ',' || new.source || '"'), 0) + 1);
end;

-- The version before counts spans and parts without these names, at night and where it divides them: they are added at once.

create trigger organization_refund_spans_named after insert on list_spans
  when new.list = 'organization_refund_requests' and coalesce(new.counts ->> '$.",,,"', 0) <> new.total
begin
  update list_spans set counts = (
      select json_group_object(name, n) from (select case shown.value
          when 0 then status || ' ' || reason || ' ' || source
          when 1 then ',,,'
          when 2 then edition || ',,,'
          when 3 then edition || ',' || status || ',,'
          when 4 then edition || ',,' || reason || ','
          when 5 then edition || ',,,' || source
          else edition || ',' || status || ',' || reason || ',' || source end as name, sum(n) as n
        from (select substr(edition_id, -8) as edition, status, reason, source, count(*) as n
          from refund_requests indexed by refund_requests_of_organization
          where organization_id = new.scope and created_at >= new.span << 28 and created_at < (new.span + 1) << 28
          group by 1, 2, 3, 4) cross join json_each('[0,1,2,3,4,5,6]') as shown
        group by 1 order by 1))
    where list = new.list and scope = new.scope and span = new.span;
end;

create trigger organization_refund_parts_named after insert on list_span_parts
  when new.list = 'organization_refund_requests' and new.bits < 28 and coalesce(new.counts ->> '$.",,,"', 0) <> new.total
begin
  update list_span_parts set counts = (
      select json_group_object(name, n) from (select case shown.value
          when 0 then status || ' ' || reason || ' ' || source
          when 1 then ',,,'
          when 2 then edition || ',,,'
          when 3 then edition || ',' || status || ',,'
          when 4 then edition || ',,' || reason || ','
          when 5 then edition || ',,,' || source
          else edition || ',' || status || ',' || reason || ',' || source end as name, sum(n) as n
        from (select substr(edition_id, -8) as edition, status, reason, source, count(*) as n
          from refund_requests indexed by refund_requests_of_organization
          where organization_id = new.scope and created_at >= new.span << new.bits and created_at < (new.span + 1) << new.bits
          group by 1, 2, 3, 4) cross join json_each('[0,1,2,3,4,5,6]') as shown
        group by 1 order by 1))
    where list = new.list and scope = new.scope and bits = new.bits and span = new.span;
end;

create trigger organization_refund_spans_named_anew after update of counts on list_spans
  when new.list = 'organization_refund_requests' and coalesce(new.counts ->> '$.",,,"', 0) <> new.total
begin
  update list_spans set counts = (
      select json_group_object(name, n) from (select case shown.value
          when 0 then status || ' ' || reason || ' ' || source
          when 1 then ',,,'
          when 2 then edition || ',,,'
          when 3 then edition || ',' || status || ',,'
          when 4 then edition || ',,' || reason || ','
          when 5 then edition || ',,,' || source
          else edition || ',' || status || ',' || reason || ',' || source end as name, sum(n) as n
        from (select substr(edition_id, -8) as edition, status, reason, source, count(*) as n
          from refund_requests indexed by refund_requests_of_organization
          where organization_id = new.scope and created_at >= new.span << 28 and created_at < (new.span + 1) << 28
          group by 1, 2, 3, 4) cross join json_each('[0,1,2,3,4,5,6]') as shown
        group by 1 order by 1))
    where list = new.list and scope = new.scope and span = new.span;
end;

create trigger organization_refund_parts_named_anew after update of counts on list_span_parts
  when new.list = 'organization_refund_requests' and new.bits < 28 and coalesce(new.counts ->> '$.",,,"', 0) <> new.total
begin
  update list_span_parts set counts = (
      select json_group_object(name, n) from (select case shown.value
          when 0 then status || ' ' || reason || ' ' || source
          when 1 then ',,,'
          when 2 then edition || ',,,'
          when 3 then edition || ',' || status || ',,'
          when 4 then edition || ',,' || reason || ','
          when 5 then edition || ',,,' || source
          else edition || ',' || status || ',' || reason || ',' || source end as name, sum(n) as n
        from (select substr(edition_id, -8) as edition, status, reason, source, count(*) as n
          from refund_requests indexed by refund_requests_of_organization
          where organization_id = new.scope and created_at >= new.span << new.bits and created_at < (new.span + 1) << new.bits
          group by 1, 2, 3, 4) cross join json_each('[0,1,2,3,4,5,6]') as shown
        group by 1 order by 1))
    where list = new.list and scope = new.scope and bits = new.bits and span = new.span;
end;

update list_spans set counts = counts where list = 'organization_refund_requests';

update list_span_parts set counts = counts where list = 'organization_refund_requests' and bits < 28;
