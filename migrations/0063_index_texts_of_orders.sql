-- Finds orders by three letters and more of what stands in `search_own`. `scope` has a mark of the edition and one of
-- the organisation, made of the last characters of their ids: of combining characters, which folded text never has. Two
-- scopes may share a mark, so what is found is compared with the row.
-- Nothing but the sequences of three letters is kept. A text that goes is taken out at once, which needs the text itself.
create virtual table order_search using fts5 (
  edition, organization, text, content = '', detail = 'none', columnsize = 0, tokenize = 'trigram case_sensitive 1'
);
insert into order_search (order_search, rank) values ('secure-delete', 1);

-- A call of char() a mark: the codes of ASCII moved to the block of combining characters, and to that of variation
-- selectors.
insert into order_search (rowid, edition, organization, text)
  select seq,
    char(unicode(substr(edition_id, -3)) + 736, unicode(substr(edition_id, -2)) + 736,
      unicode(substr(edition_id, -1)) + 736),
    char(unicode(substr(organization_id, -3)) + 917728, unicode(substr(organization_id, -2)) + 917728,
      unicode(substr(organization_id, -1)) + 917728),
    search_own
  from orders;

create trigger orders_search_insert after insert on orders begin
  insert into order_search (rowid, edition, organization, text) values (
    new.seq,
    char(unicode(substr(new.edition_id, -3)) + 736, unicode(substr(new.edition_id, -2)) + 736,
      unicode(substr(new.edition_id, -1)) + 736),
    char(unicode(substr(new.organization_id, -3)) + 917728, unicode(substr(new.organization_id, -2)) + 917728,
      unicode(substr(new.organization_id, -1)) + 917728),
    new.search_own
  );
end;

-- An order never changes its edition.
create trigger orders_search_update after update of search_own on orders when old.search_own <> new.search_own begin
  insert into order_search (order_search, rowid, edition, organization, text)
    values ('delete', old.seq, '', '', old.search_own);
  insert into order_search (rowid, edition, organization, text) values (new.seq, '', '', new.search_own);
end;

create trigger orders_search_delete after delete on orders begin
  insert into order_search (order_search, rowid, edition, organization, text) values (
    'delete',
    old.seq,
    char(unicode(substr(old.edition_id, -3)) + 736, unicode(substr(old.edition_id, -2)) + 736,
      unicode(substr(old.edition_id, -1)) + 736),
    char(unicode(substr(old.organization_id, -3)) + 917728, unicode(substr(old.organization_id, -2)) + 917728,
      unicode(substr(old.organization_id, -1)) + 917728),
    old.search_own
  );
end;
