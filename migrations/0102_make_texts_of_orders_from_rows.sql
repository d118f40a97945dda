-- The texts that an order is found by are made from its row: its number, its id, that of its own payment and its external
-- id. `search_own` is empty then. Orders of earlier versions, and those whose texts are others, keep them there; `search` of
-- the earlier ones has them too, beside the contact of the customer.
alter table orders add column own_search_text text not null generated always as (
  case when search_own <> '' then search_own
    else iif(number_folded = '', '', number_folded || char(31)) || lower(id) || char(31) || 'trx_' || lower(substr(id, 5))
      || iif(coalesce(external_id, '') = '', '', char(31) || lower(external_id))
  end
) virtual;
alter table orders add column search_text text not null generated always as (
  own_search_text || char(31) || search
) virtual;

drop trigger orders_search_insert;
create trigger orders_search_insert after insert on orders begin
  insert into order_search (rowid, edition, organization, text) values (
    new.seq,
    char(unicode(substr(new.edition_id, -3)) + 736, unicode(substr(new.edition_id, -2)) + 736,
      unicode(substr(new.edition_id, -1)) + 736),
    char(unicode(substr(new.organization_id, -3)) + 917728, unicode(substr(new.organization_id, -2)) + 917728,
      unicode(substr(new.organization_id, -1)) + 917728),
    new.own_search_text
  );
end;

drop trigger orders_search_update;
create trigger orders_search_update after update of search_own, number_folded, external_id on orders
  when old.own_search_text <> new.own_search_text begin
  insert into order_search (order_search, rowid, edition, organization, text)
    values ('delete', old.seq, '', '', old.own_search_text);
  insert into order_search (rowid, edition, organization, text) values (new.seq, '', '', new.own_search_text);
end;

drop trigger orders_search_delete;
create trigger orders_search_delete after delete on orders begin
  insert into order_search (order_search, rowid, edition, organization, text) values (
    'delete',
    old.seq,
    char(unicode(substr(old.edition_id, -3)) + 736, unicode(substr(old.edition_id, -2)) + 736,
      unicode(substr(old.edition_id, -1)) + 736),
    char(unicode(substr(old.organization_id, -3)) + 917728, unicode(substr(old.organization_id, -2)) + 917728,
      unicode(substr(old.organization_id, -1)) + 917728),
    old.own_search_text
  );
end;
