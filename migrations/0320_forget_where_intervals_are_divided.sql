-- Sweeps note how far rows were counted when intervals were divided last.
drop trigger webhook_endpoints_uncounted;
create trigger webhook_endpoints_uncounted after delete on webhook_endpoints
begin
  delete from list_spans where list = 'webhook_deliveries' and scope = old.id;
  delete from list_span_parts where list = 'webhook_deliveries' and scope = old.id;
  delete from delivery_intervals where scope = old.id;
  delete from delivery_packs where endpoint_id = old.id;
  delete from edition_deliveries where endpoint_id = old.id;
  delete from settled_lists where list in ('webhook_deliveries', 'delivery_intervals', 'delivery_intervals divided', 'delivery_packs')
    and scope = old.id;
end;
