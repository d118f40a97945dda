-- The parts of a purchase that an item pays back, so that later refunds know which parts are left.
alter table refund_items add column price_minor integer not null default 0 check (price_minor >= 0);
alter table refund_items add column deposit_minor integer not null default 0 check (deposit_minor >= 0);
alter table refund_items add column handling_fee_minor integer not null default 0 check (handling_fee_minor >= 0);

-- What an organisation demands before a refund is approved.
alter table organizations add column refund_policy text not null default '{}' check (json_valid(refund_policy));
