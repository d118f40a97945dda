-- Orders and their payments.

-- An order of an edition. `seq` is the order of creation and the rowid in the search index.
create table orders (
  seq integer primary key,
  id text not null unique,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  user_id text not null references users (id),
  order_number text,
  -- The order number as filters compare it. SQLite's `lower` folds no other letters than a to z.
  number_folded text not null default '',
  -- The sort key of the order number: folded, with the length of each number before its digits, so A-2 comes before
  -- A-10.
  number_key text,
  type text not null,
  status text not null,
  amount_minor integer not null check (amount_minor >= 0),
  currency text not null,
  items_count integer not null,
  has_payment integer not null check (has_payment in (0, 1)),
  completed_transaction_id text,
  -- The cart as JSON. Zeros and empty values are left out; its total is `amount_minor`.
  cart text not null check (json_valid(cart)),
  metadata text not null default '{}' check (json_valid(metadata)),
  external_source text,
  external_id text,
  -- The e-mail address of the customer in the last import of the order, or else the number. The same order keeps its
  -- customer when it comes again with it, although the customer may have another address by now.
  imported_address text,
  -- When the order was cancelled in this service, and the account that did it. An import that cancels it sets neither.
  cancelled_at integer,
  cancelled_by text,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null,
  -- Order number, id, external id, and the ids of its transactions: folded, one a line.
  search_text text not null
) strict;
-- Serves a customer's orders. Segments read status and amount from the index alone.
create index orders_of_user on orders (user_id, created_at, seq, status, amount_minor);
-- Finds the cancelled orders of a customer, for their activity.
create index orders_cancelled_of_user on orders (user_id, cancelled_at) where cancelled_at is not null;
-- An external id is unique per edition and source; imports and the filter find orders by it.
create unique index orders_by_external_id on orders (edition_id, external_id, external_source)
  where external_id is not null;
-- Serves lists of an edition by creation, of one source, and those by amount, status and type, which SQLite sorts from it. A list's
-- index has the columns that its filters and orderings compare, so that only the rows of the page are read.
create index orders_edition_created on orders
  (edition_id, created_at, seq, status, type, amount_minor, modified_at, number_key, user_id, external_source);
-- Serves lists of an edition by last change. Orders that an ordering does not tell apart follow their creation.
create index orders_edition_modified on orders (edition_id, modified_at, created_at, seq, status, type);
-- Serves lists of an edition by order number.
create index orders_edition_number on orders (edition_id, number_key, created_at, seq, status, type);
-- Serves lists of an organization by creation, and all its other orderings but the next, which SQLite sorts from it.
create index orders_organization_created on orders
  (organization_id, created_at, seq, status, type, amount_minor, modified_at, number_key, user_id, external_source);
-- Serves lists of an organization by last change.
create index orders_organization_modified on orders (organization_id, modified_at, created_at, seq, status, type);

-- The number of orders of a status and type in an edition. Triggers count them, and a nightly job checks the numbers.
create table order_counts (
  edition_id text not null,
  status text not null,
  type text not null,
  orders_count integer not null,
  primary key (edition_id, status, type)
) strict, without rowid;

-- Finds orders by any three letters of `orders.search_text`. `edition` and `organization` are marks as in
-- `customer_search`; those of editions are combining characters.
create virtual table order_search using fts5 (
  edition, organization, text,
  content = '', detail = 'none', columnsize = 0, tokenize = 'trigram case_sensitive 1'
);

-- Payments of orders and the refunds paid on them.
create table transactions (
  id text primary key,
  order_id text not null references orders (id),
  type text not null,
  status text not null,
  service text not null,
  -- The payment in the provider's words, such as a payment intent id.
  provider_reference text,
  -- The organization of a payment with a reference of its provider, and since when it has that reference: later than
  -- every payment of the organization that had the reference before.
  organization_id text,
  reference_since integer,
  -- The account that the edition had when the payment was stored, and the connected account that replaced the account's
  -- own. Refunds go through them, whatever the edition has now. Null: a person pays refunds.
  merchant_account_id text references merchant_accounts (id),
  provider_account text,
  -- Set on rows of type refund: the request that it pays.
  refund_request_id text references refund_requests (id),
  amount_minor integer not null,
  currency text not null,
  service_fee_minor integer not null,
  handling_fee_minor integer not null,
  refunded_minor integer not null default 0,
  reserved_minor integer not null default 0 check (reserved_minor >= 0),
  created_at integer not null
) strict, without rowid;
-- Finds an order's transactions, and checks references when an order is deleted.
create index transactions_of_order on transactions (order_id);
-- Finds payments of an account before it is deleted.
create index transactions_of_merchant_account on transactions (merchant_account_id)
  where merchant_account_id is not null;
-- Finds what a refund request has paid back.
create index transactions_of_refund on transactions (refund_request_id) where refund_request_id is not null;
-- Finds payments by their name at the provider, and whether several editions have one with the same name.
create index transactions_of_provider on transactions (organization_id, provider_reference, reference_since)
  where reference_since is not null;

create trigger orders_search_insert after insert on orders begin
  insert into order_search (rowid, edition, organization, text) values (
    new.seq,
    char(unicode(substr(new.edition_id, -3)) + 736, unicode(substr(new.edition_id, -2)) + 736,
      unicode(substr(new.edition_id, -1)) + 736),
    char(unicode(substr(new.organization_id, -3)) + 917728, unicode(substr(new.organization_id, -2)) + 917728,
      unicode(substr(new.organization_id, -1)) + 917728),
    new.search_text
  );
end;

-- An order never changes its edition, so its marks stay.
create trigger orders_search_update after update of search_text on orders
  when old.search_text <> new.search_text begin
  insert into order_search (order_search, rowid, edition, organization, text)
    values ('delete', old.seq, '', '', old.search_text);
  insert into order_search (rowid, edition, organization, text) values (new.seq, '', '', new.search_text);
end;

create trigger orders_search_delete after delete on orders begin
  insert into order_search (order_search, rowid, edition, organization, text) values (
    'delete',
    old.seq,
    char(unicode(substr(old.edition_id, -3)) + 736, unicode(substr(old.edition_id, -2)) + 736,
      unicode(substr(old.edition_id, -1)) + 736),
    char(unicode(substr(old.organization_id, -3)) + 917728, unicode(substr(old.organization_id, -2)) + 917728,
      unicode(substr(old.organization_id, -1)) + 917728),
    old.search_text
  );
end;

create trigger orders_counted after insert on orders begin
  insert into order_counts (edition_id, status, type, orders_count)
    values (new.edition_id, new.status, new.type, 1)
    on conflict (edition_id, status, type) do update set orders_count = orders_count + 1;
end;

create trigger orders_uncounted after delete on orders begin
  update order_counts set orders_count = orders_count - 1
    where (edition_id, status, type) = (old.edition_id, old.status, old.type);
end;

create trigger orders_recounted after update of edition_id, status, type on orders
  when (new.edition_id, new.status, new.type) is not (old.edition_id, old.status, old.type) begin
  update order_counts set orders_count = orders_count - 1
    where (edition_id, status, type) = (old.edition_id, old.status, old.type);
  insert into order_counts (edition_id, status, type, orders_count)
    values (new.edition_id, new.status, new.type, 1)
    on conflict (edition_id, status, type) do update set orders_count = orders_count + 1;
end;
