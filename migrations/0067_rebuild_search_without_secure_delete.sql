-- Both indexes are built again without `secure-delete`. With it, and `detail` none, SQLite 3.53 lost entries of other rows
-- in transactions of deletions and insertions, and a deletion read the list of every sequence of its text: 8 ms at 50,000
-- customers. Without it a deletion is an entry of its own, and what it removes goes with the next merge.
insert into order_search (order_search, rank) values ('secure-delete', 0);
insert into order_search (order_search) values ('delete-all');
insert into order_search (rowid, edition, organization, text)
  select seq,
    char(unicode(substr(edition_id, -3)) + 736, unicode(substr(edition_id, -2)) + 736,
      unicode(substr(edition_id, -1)) + 736),
    char(unicode(substr(organization_id, -3)) + 917728, unicode(substr(organization_id, -2)) + 917728,
      unicode(substr(organization_id, -1)) + 917728),
    search_own
  from orders;

insert into customer_search (customer_search, rank) values ('secure-delete', 0);
insert into customer_search (customer_search) values ('delete-all');
insert into customer_search (rowid, organization, text)
  select seq,
    char(unicode(substr(organization_id, -3)) + 917728, unicode(substr(organization_id, -2)) + 917728,
      unicode(substr(organization_id, -1)) + 917728),
    search_text
  from users;
