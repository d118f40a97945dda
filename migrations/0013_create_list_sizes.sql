-- How long the lists are that expressions of segments walk through. Each number is the most that one person of the
-- organisation has, or had: it may be too high and is never too low. Whoever adds to a list raises it in the same
-- transaction.
create table list_sizes (
  organization_id text primary key references organizations (id),
  orders integer not null default 0,
  purchases integer not null default 0,
  -- Campaigns of the organisation: a person receives each once.
  campaigns integer not null default 0,
  -- Options of one purchase.
  options integer not null default 0,
  -- Entries of one array or object in the metadata of a person, and of an order.
  user_metadata integer not null default 0,
  order_metadata integer not null default 0,
  -- Of the whole organisation, so that means are known.
  people integer not null default 0,
  all_orders integer not null default 0,
  all_purchases integer not null default 0
) strict, without rowid;

insert into list_sizes (organization_id) select id from organizations;

-- One pass through each table.
update list_sizes set orders = most, all_orders = total
from (select organization_id, max(n) as most, sum(n) as total
  from (select organization_id, user_id, count(*) as n from orders group by organization_id, user_id)
  group by organization_id) found
where found.organization_id = list_sizes.organization_id;

update list_sizes set purchases = most, all_purchases = total, options = most_options
from (select organization_id, max(n) as most, sum(n) as total, max(o) as most_options
  from (select organization_id, user_id, count(*) as n, max(json_array_length(options)) as o from purchases
    group by organization_id, user_id)
  group by organization_id) found
where found.organization_id = list_sizes.organization_id;

update list_sizes set campaigns = total
from (select organization_id, count(*) as total from campaigns group by organization_id) found
where found.organization_id = list_sizes.organization_id;

update list_sizes set people = total, user_metadata = coalesce(most, 0)
from (select organization_id, count(*) as total,
    max((select max(n) from (select count(*) as n from json_tree(metadata) where parent is not null group by parent)))
      as most
  from users group by organization_id) found
where found.organization_id = list_sizes.organization_id;

update list_sizes set order_metadata = coalesce(most, 0)
from (select organization_id,
    max((select max(n) from (select count(*) as n from json_tree(metadata) where parent is not null group by parent)))
      as most
  from orders group by organization_id) found
where found.organization_id = list_sizes.organization_id;

-- A sample of people: the last two letters of an id are random.
create index users_sample on users (organization_id, substr(id, -2));
create index user_editions_sample on user_editions (edition_id, substr(user_id, -2));

-- The status of purchases is asked for as often as that of orders.
drop index purchases_of_user;
create index purchases_of_user on purchases (user_id, product_id, organization_id, status);
