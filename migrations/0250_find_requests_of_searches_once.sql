-- A search of refund requests is found once for each state: of its orders, of their customers, and of the requests themselves.
alter table list_sizes add column refund_changes integer not null default 0;

create trigger refund_requests_changed_insert after insert on refund_requests begin
  insert into list_sizes (organization_id, refund_changes) values (new.organization_id, 1)
    on conflict (organization_id) do update set refund_changes = refund_changes + 1;
end;

create trigger refund_requests_changed_update
  after update of organization_id, edition_id, order_id, status, reason, source, requested_minor, provider_reference, created_at,
    modified_at on refund_requests begin
  insert into list_sizes (organization_id, refund_changes) values (new.organization_id, 1)
    on conflict (organization_id) do update set refund_changes = refund_changes + 1;
end;

create trigger refund_requests_changed_delete after delete on refund_requests begin
  update list_sizes set refund_changes = refund_changes + 1 where organization_id = old.organization_id;
end;

-- A search also finds an order by its payment and its external id.
drop trigger orders_listed;
create trigger orders_listed after update of user_id, number_folded, search, search_own, external_id on orders
  when (new.user_id, new.number_folded, new.search, new.own_search_text)
    is not (old.user_id, old.number_folded, old.search, old.own_search_text)
begin
  update order_counts set changes = changes + 1
    where span_bits = 29 and edition_id = new.edition_id and span = new.created_at >> 29;
end;
